import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";
import { NOTHING_CLOSED } from "../../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../../processors/ledger/closed/frozen.ts";
import { computeLedger } from "../../processors/ledger/hours/compute-hour.ts";
import { computeHours, portionOf } from "../../processors/ledger/hours/portion.ts";
import { ledgerRules } from "../../processors/ledger/charging/rules.ts";
import { newRunId } from "../../processors/ledger/runs/runs.ts";
import { computeWindow } from "../../processors/ledger/rollup/rollups.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { clustersOf } from "../../scenarios/play/tenure.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { createTestDatabase } from "../support/database.ts";
import { storeScenario } from "../support/play.ts";
import { scenarioWith } from "../support/played.ts";
import { randomScenario } from "../support/reference/random-scenario.ts";
import { rounds } from "../support/rounds.ts";

const SEED = Number(process.env["FLEETS_SEED"] ?? 20_260_301);
/** The scenarios of one cluster and of at most half a day: with engines, quotas, and devices that only some hours prove. */
const WRITTEN = ["test/scenarios/serving", "test/scenarios"]
  .flatMap((folder) => readdirSync(folder).map((file) => `${folder}/${file}`))
  .filter((file) => file.endsWith(".yaml"))
  .map((name) => ({ name, scenario: readScenario(readFileSync(name, "utf8"), name) }))
  .filter(({ scenario: { period } }) => period.end - period.start <= 12 * HOUR_MILLIS)
  .filter(({ scenario }) => new Set(clustersOf(scenario)).size === 1);

/** A stored scenario under a name of its own. */
interface Fleet {
  readonly name: string;
  readonly scenario: Scenario;
}

describe("hours that are computed together", () => {
  const stores: StoreClient[] = [];
  beforeAll(async () => {
    for (const name of ["at_once_single", "at_once_many"]) stores.push(await createTestDatabase(name));
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
  });

  /** Computes all hours of a fleet, at most `atOnce` together and in an order that differs, and returns what was published. */
  async function publishedBy(store: StoreClient, { name, scenario }: Fleet, atOnce: number): Promise<object> {
    await storeScenario(store, scenario);
    const rules = ledgerRules(rulesOf(scenario), "");
    const weights = createFrozenWeights(store);
    const now = scenario.period.end;
    const waiting = new Set<number>();
    for (let hour = hourOf(scenario.period.start); hour < now; hour += HOUR_MILLIS) waiting.add(hour);
    let generation = 0;
    while (waiting.size > 0) {
      const newestFirst = [...waiting].toSorted((a, b) => (atOnce === 1 ? a - b : b - a));
      const windows = newestFirst.slice(0, atOnce).map((windowStart) => ({ cluster: name, windowStart }));
      for (const { windowStart } of windows) waiting.delete(windowStart);
      const turn = { generation: (generation += 1), facts: new Map(), now, closed: NOTHING_CLOSED, weights };
      const { outcomes, reopened } = await computeHours(store, windows, async (window, own) => {
        await computeWindow(own, { ...window, generation, watermark: new Map(), publishedAt: now, runId: newRunId() });
        return computeLedger(own, window, rules, turn);
      });
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
      for (const { windowStart } of reopened) waiting.add(windowStart);
    }
    const runs = await store.query<object>(
      `SELECT kind, window_start, argMax((scrapes, rows, hash), generation) AS content FROM runs
       WHERE cluster = {name:String} AND kind != 'started' GROUP BY kind, window_start ORDER BY window_start, kind`,
      { name },
    );
    expect(runs.length).toBeGreaterThan(0);
    return runs;
  }

  async function expectAlike({ name, scenario }: Fleet, atOnce = Infinity): Promise<void> {
    const fleet = {
      name,
      scenario: { ...scenario, nodes: scenario.nodes.map((node) => ({ ...node, cluster: name })) },
    };
    const [single, many] = await Promise.all([
      publishedBy(stores[0]!, fleet, 1),
      publishedBy(stores[1]!, fleet, atOnce),
    ]);
    expect({ name, runs: many }).toEqual({ name, runs: single });
  }

  test("have the rows that each has alone, in fleets of the scenarios", async () => {
    const each = Math.ceil(WRITTEN.length / rounds(WRITTEN.length, 12));
    for (const fleet of WRITTEN.filter((_, index) => index % each === 0)) await expectAlike(fleet);
  });

  test("are near each other, because a statement reads the samples between them, too", async () => {
    const hours = (...ago: readonly number[]) =>
      ago.map((each) => ({ cluster: "gaps", windowStart: Date.UTC(2026, 2, 1) - each * HOUR_MILLIS }));
    expect(await portionOf(stores[0]!, hours(0, 1, 4, 10, 11))).toEqual(hours(0, 1, 4));
    expect(await portionOf(stores[0]!, hours(10, 2, 1))).toEqual(hours(10));
    const many = hours(...Array.from({ length: 60 }, (_, ago) => ago));
    expect(await portionOf(stores[0]!, many)).toEqual(many.slice(0, 48));
  });

  test("have the rows that each has alone where a quota changes within an hour", async () => {
    const quotaOf = (from: string, quota: number) => ({ from, labels: { team: "nlp" }, quota });
    await expectAlike({
      name: "quotas",
      scenario: scenarioWith({
        period: { start: "2026-03-01T00:00:00Z", end: "2026-03-01T03:00:00Z" },
        nodes: [{ name: "n1", model: "NVIDIA-H100-80GB-HBM3", gpus: 8 }],
        namespaces: {
          vision: { labels: { team: "vision" }, quota: 2 },
          nlp: [
            { labels: { team: "nlp" }, quota: 2 },
            quotaOf("2026-03-01T00:20:00Z", 6),
            quotaOf("2026-03-01T01:40:00Z", 1),
            quotaOf("2026-03-01T02:10:00Z", 4),
          ],
        },
        pods: [{ name: "v-0", namespace: "vision", node: "n1", holds: { gpus: 1 }, devices: [0], activity: 1 }],
        prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "2.00" }],
        policies: [{ name: "quota", payers: { unallocated: "spread" }, spread: { over: "cluster", by: "quota" } }],
      }),
    });
  });

  test(`have the rows that each has alone, in random fleets (FLEETS_SEED=${SEED})`, async () => {
    const fleets = fc.sample(randomScenario, { seed: SEED, numRuns: rounds(20, 3) });
    for (const [index, scenario] of fleets.entries()) {
      await expectAlike({ name: `fleet-${index}`, scenario });
      await expectAlike({ name: `fleet-${index}-by-two`, scenario }, 2);
    }
  });
});
