import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY_MILLIS } from "../../domain/time.ts";
import { writeMark } from "../../reports/advice/marks.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createMetrics, type Metrics } from "../../runtime/telemetry/metrics.ts";
import { cardMetricsJob } from "../../services/leader/card-metrics.ts";
import { createTestDatabase } from "../support/database.ts";
import { HOSTILE } from "../support/pages-fleet.ts";
import { ADVICE_UNTIL, CARDS, keepSampleAdvice } from "../support/sample-advice.ts";

describe("the metrics of the advice", () => {
  let store: StoreClient;
  let metrics: Metrics;
  beforeAll(async () => {
    store = await createTestDatabase("advice_metrics");
    metrics = createMetrics(new Registry());
  });
  afterAll(() => store.close());

  const job = () => cardMetricsJob({ store, metrics, now: () => ADVICE_UNTIL + DAY_MILLIS });

  async function shown(): Promise<Series> {
    await job().work(new AbortController().signal);
    return seriesOf(metrics);
  }

  it("have the owners' savings per month and the number of cards, by team and kind", async () => {
    await keepSampleAdvice(store);
    expect(await shown()).toEqual({
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
    const { cards } = await shown();
    expect(cards).toHaveLength(3);
    expect(cards.map(([, team]) => team)).not.toContain("vision");
  });

  it("are removed when another processor leads", async () => {
    await shown();
    job().clear?.();
    expect(await seriesOf(metrics)).toEqual({ saving: [], cards: [] });
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
