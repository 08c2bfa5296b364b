import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UsageHour } from "../../domain/allocation/usage-hour.ts";
import { readBook } from "../../domain/price/read.ts";
import { meterWindow } from "../../processors/meter.ts";
import { readUsage } from "../../processors/meter/usage-rows.ts";
import { HOUR_MILLIS, hourOf } from "../../processors/rollup/window.ts";
import { newRunId } from "../../processors/runs.ts";
import { knownDates } from "../../processors/ledger/plan/known-dates.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readScenario } from "../../scenarios/read.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/pipeline.ts";
import { storeScenario } from "../support/play.ts";
import { cutsOf } from "../support/reference/bill.ts";
import { meterScenario } from "../support/reference/meter.ts";

const FOLDER = "test/scenarios";
const files = readdirSync(FOLDER).filter((file) => file.endsWith(".yaml"));
/** Those of days; the months are played in the long tests. */
const scenarios = files
  .map((file) => ({ file, scenario: readScenario(readFileSync(`${FOLDER}/${file}`, "utf8"), file) }))
  .filter(({ scenario: { period } }) => period.end - period.start < 72 * HOUR_MILLIS);

describe("the meter", () => {
  let embedded: TestStore;
  let count = 0;

  beforeAll(async () => {
    embedded = await startTestStore();
  });
  afterAll(() => embedded.stop());

  async function meter(scenario: Scenario): Promise<readonly UsageHour[]> {
    const store = await createTestDatabase(embedded, `meter_${(count += 1)}`);
    try {
      await storeScenario(store, scenario);
      return await meterAll(store, scenario);
    } finally {
      await store.close();
    }
  }

  it.each(scenarios.map(({ file, scenario }) => [file, scenario] as const))(
    "finds what the plain definition finds: %s",
    async (_, scenario) => {
      expect(inWords(await meter(scenario), scenario)).toEqual(expectedWords(scenario));
    },
  );
});

async function meterAll(store: StoreClient, scenario: Scenario): Promise<readonly UsageHour[]> {
  const { currency, prices = [], rates = [], markup = [], commitments = [], fixed = [] } = scenario;
  const read = readBook({ currency, prices, rates, markup, commitments, fixed });
  if ("problems" in read) throw new Error("no price book");
  const dates = knownDates(read.book);
  const { start, end } = scenario.period;
  const hours: UsageHour[] = [];
  for (const cluster of new Set(scenario.nodes.map((node) => node.cluster))) {
    for (let windowStart = hourOf(start); windowStart < end; windowStart += HOUR_MILLIS) {
      const run = { cluster, windowStart, runId: newRunId(), generation: 1, watermark: new Map(), publishedAt: end };
      await meterWindow(store, run, { dates });
    }
    for await (const rows of readUsage(store, cluster, { from: hourOf(start), until: end })) hours.push(...rows);
  }
  return hours;
}

/** Rows of the meter in a form in which they can be compared: within the period, by node, slot and time. */
function inWords(hours: readonly UsageHour[], { period }: Scenario): readonly string[] {
  return hours
    .filter(({ segment }) => segment.fromMillis < period.end)
    .flatMap(({ node, slot, segment, holders }) => {
      const { fromMillis, untilMillis, gpu, unavailableBecause, isCordoned, busyMillis, claims } = segment;
      const { model, layout } = gpu;
      const of = `${node}/${slot} ${time(fromMillis)}–${time(Math.min(untilMillis, period.end))}`;
      return [
        `${of} ${model} ${json(layout)} ${unavailableBecause} ${isCordoned} ${busyMillis}`,
        ...claims.map(({ claim, stage, measured }, index) => {
          const { namespace, name } = holders[index]!;
          return `${of} ${namespace}/${name} ${json(claim.held)} ${stage} ${json(measured)}`;
        }),
      ];
    })
    .toSorted();
}

function expectedWords(scenario: Scenario): readonly string[] {
  return meterScenario(scenario, cutsOf(scenario))
    .flatMap(({ node, index, segments }) =>
      segments.flatMap(({ fromMillis, untilMillis, gpu, unavailableBecause, isCordoned, busyMillis, claims, pods }) => {
        const of = `${node.name}/${index} ${time(fromMillis)}–${time(untilMillis)}`;
        return [
          `${of} ${gpu.model} ${json(gpu.layout)} ${unavailableBecause} ${isCordoned} ${busyMillis}`,
          ...claims.map(({ claim, stage, measured }, place) => {
            const { namespace, name, hpcJob } = pods[place]!;
            const who = hpcJob === undefined ? `${namespace}/${name}` : `/${hpcJob}`;
            return `${of} ${who} ${json(claim.held)} ${stage} ${json(measured)}`;
          }),
        ];
      }),
    )
    .toSorted();
}

function time(millis: number): string {
  return new Date(millis).toISOString();
}

/** With sorted keys, big integers as digits. */
function json(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === "bigint") return String(one);
    if (typeof one !== "object" || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
