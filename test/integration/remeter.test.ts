import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NOTHING_CLOSED } from "../../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../../processors/ledger/closed/frozen.ts";
import { computeLedger } from "../../processors/ledger/hours/compute-hour.ts";
import { openHours, remeterHour, tryHour, type OpenHour } from "../../processors/ledger/hours/remeter.ts";
import { newRunId, publishRun } from "../../processors/ledger/runs/runs.ts";
import { staleCharges } from "../../processors/ledger/hours/stale-hours.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { CHARGE_COLUMNS } from "../../runtime/store/schema/charges.ts";
import { listOf, namesOf } from "../../runtime/store/schema/table.ts";
import { rulesOfConfig } from "../../services/ledger-rules.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { createTestDatabase } from "../support/database.ts";
import { scenarioFiles } from "../support/play-ledger.ts";
import { storeScenario } from "../support/play.ts";

const { scenario } = scenarioFiles().find(({ file }) => file === "by-usage.yaml")!;
const { start, end } = scenario.period;
const { rules } = rulesOfConfig(
  parseConfig(
    `
owners: { team: [{ namespaceLabel: team }, { podLabel: team }] }
prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "1.00" }]`,
    { source: "the test", folder: ".", env: {} },
  ),
);
const SPAN = { from: start, until: end };
const LATER = end + HOUR_MILLIS;

describe("hours of an earlier release", () => {
  let store: StoreClient;
  let all: readonly OpenHour[];
  beforeAll(async () => {
    store = await createTestDatabase("remeter");
    await storeScenario(store, scenario);
    const turn = { generation: 3, facts: new Map([[0, 7]]), now: end, closed: NOTHING_CLOSED };
    for (let windowStart = start; windowStart < end; windowStart += HOUR_MILLIS) {
      const window = { cluster: scenario.nodes[0]!.cluster, windowStart };
      await computeLedger(store, window, rules, { ...turn, weights: createFrozenWeights(store) });
    }
    all = await openHours(store, SPAN, LATER);
  });
  afterAll(() => store.close());

  const counts = () =>
    store.query("SELECT kind, count() AS runs FROM runs WHERE kind IN ('usage', 'charge') GROUP BY kind ORDER BY kind");

  /** Publishes the charges of an hour as if another release had found another team. */
  async function chargeOtherwise({ cluster, windowStart }: OpenHour): Promise<void> {
    const runId = newRunId();
    const columns = CHARGE_COLUMNS.map(({ name }) => (name === "team" ? "'unallocated'" : name)).join(", ");
    await store.command(
      `INSERT INTO charges (run_id, ${listOf(CHARGE_COLUMNS)}) SELECT toUUID({runId:String}), ${columns}
       FROM charges_published WHERE cluster = {cluster:String} AND toStartOfHour(from_at, 'UTC') = fromUnixTimestamp64Milli({at:Int64})`,
      { runId, cluster, at: windowStart },
    );
    const run = { cluster, windowStart, runId, generation: 3, watermark: new Map(), publishedAt: end + 1 };
    await publishRun(store, "charge", run, { scrapes: 0, rows: 1, hash: "0" });
  }

  it("are those of open periods that have ended, with the facts that they had considered", async () => {
    expect(namesOf(CHARGE_COLUMNS)).toContain("team");
    expect(all).toHaveLength((end - start) / HOUR_MILLIS);
    expect(all[0]).toMatchObject({ windowStart: start, generation: 3, usage: new Map([[0, 7]]) });
    expect(await openHours(store, SPAN, end - 1)).toHaveLength(all.length - 1);
    expect(await openHours(store, { ...SPAN, from: start + HOUR_MILLIS }, LATER)).toHaveLength(all.length - 1);
  });

  it("are tried without a published run, and cost the same where the release changes nothing", async () => {
    const before = await counts();
    for (const hour of all) {
      const tried = await tryHour(store, hour, rules, LATER);
      expect(tried.after.size).toBeGreaterThan(0);
      expect(new Map(tried.after)).toEqual(new Map(tried.before));
    }
    expect(await counts()).toEqual(before);
  });

  it("show the teams between which costs move, and are charged again once they are metered again", async () => {
    const [hour] = all;
    const was = await tryHour(store, hour!, rules, LATER);
    await chargeOtherwise(hour!);
    const { before, after } = await tryHour(store, hour!, rules, LATER);
    const total = [...was.before.values()].reduce((sum, cost) => sum + cost, 0n);
    expect([...before]).toEqual([["unallocated", total]]);
    expect(new Map(after)).toEqual(new Map(was.before));
    const stale = () => staleCharges(store, rules, { from: -Infinity, openSince: -Infinity });
    const others = (await stale()).filter(({ windowStart }) => windowStart !== start);
    await remeterHour(store, hour!, rules, LATER);
    expect((await stale()).filter(({ windowStart }) => windowStart === start)).toHaveLength(1);
    expect((await stale()).filter(({ windowStart }) => windowStart !== start)).toEqual(others);
    // The facts that it had not considered still wait.
    expect((await openHours(store, SPAN, LATER))[0]!.usage).toEqual(new Map([[0, 7]]));
  });
});
