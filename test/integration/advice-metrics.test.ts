import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY_MILLIS } from "../../domain/time.ts";
import { writeMark } from "../../reports/advice/marks.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createMetrics, type Metrics } from "../../runtime/telemetry/metrics.ts";
import { startAdviceMetrics } from "../../services/advice-metrics.ts";
import { createTestDatabase } from "../support/database.ts";
import { HOSTILE } from "../support/pages-fleet.ts";
import { ADVICE_UNTIL, CARDS, keepSampleAdvice } from "../support/sample-advice.ts";

describe("the metrics of the advice", () => {
  let store: StoreClient;
  let metrics: Metrics;
  let isLeading = true;

  beforeAll(async () => {
    store = await createTestDatabase("advice_metrics");
    metrics = createMetrics(new Registry());
  });
  afterAll(() => store.close());

  /** Returns the savings and the numbers of cards, when `until` holds for them. */
  async function shownWhen(until: (series: Series) => boolean): Promise<Series> {
    const repeated = startAdviceMetrics({
      store,
      metrics,
      logger: pino({ level: "silent" }),
      now: () => ADVICE_UNTIL + DAY_MILLIS,
      isLeading: () => isLeading,
    });
    try {
      await expect.poll(async () => until(await seriesOf(metrics))).toBe(true);
      return await seriesOf(metrics);
    } finally {
      await repeated.stop();
    }
  }

  it("have the owners' savings per month and the number of cards, by team and kind", async () => {
    await keepSampleAdvice(store);
    const shown = await shownWhen(({ saving }) => saving.length > 0);
    expect(shown).toEqual({
      saving: [
        ["fewer-replicas", "nlp", 365.000000004],
        ["off-hours", HOSTILE, 43.452380952],
        ["empty-nodes", "platform", 1460],
        ["idle-workload", "vision", 730],
      ].toSorted(byText),
      cards: [
        ["fewer-replicas", "nlp", 1],
        ["off-hours", HOSTILE, 1],
        ["empty-nodes", "platform", 1],
        ["idle-workload", "vision", 1],
      ].toSorted(byText),
    });
  });

  it("leave dismissed cards out", async () => {
    const mark = { what: "dismissed", at: ADVICE_UNTIL, until: undefined, who: "ada", why: "a demo" } as const;
    await writeMark(store, CARDS.vision, mark);
    const { cards } = await shownWhen(({ saving }) => saving.length === 3);
    expect(cards.map(([, team]) => team)).not.toContain("vision");
  });

  it("are only of the leader", async () => {
    isLeading = false;
    expect(await shownWhen(({ saving }) => saving.length === 0)).toEqual({ saving: [], cards: [] });
  });
});

interface Series {
  readonly saving: readonly (readonly [string, string, number])[];
  readonly cards: readonly (readonly [string, string, number])[];
}

async function seriesOf({ adviceSaving, adviceCards }: Metrics): Promise<Series> {
  const read = async (gauge: Metrics["adviceSaving"]): Promise<Series["saving"]> =>
    (await gauge.get()).values
      .map(({ labels, value }) => [String(labels["kind"]), String(labels["team"]), value] as const)
      .toSorted(byText);
  return { saving: await read(adviceSaving), cards: await read(adviceCards) };
}

function byText(one: readonly unknown[], other: readonly unknown[]): number {
  return String(one) < String(other) ? -1 : 1;
}
