import { periodOf } from "../domain/period.ts";
import { createRechargeThreads } from "../services/recharge.ts";
import { meterWindow } from "../processors/ledger/metering/meter.ts";
import { readStatements } from "../reports/read/statements.ts";
import { newRunId, publishRun } from "../processors/ledger/runs/runs.ts";
import { NOTHING_CLOSED } from "../processors/ledger/closed/closed.ts";
import type { StaleWindow } from "../processors/ledger/hours/stale-hours.ts";
import { parseConfig } from "../runtime/config/load.ts";
import { explain } from "../reports/explain/read-explanation.ts";
import { inTurns } from "../runtime/in-turns.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { listOf } from "../runtime/store/schema/table.ts";
import { USAGE_COLUMNS } from "../runtime/store/schema/usage.ts";
import { rulesAt, settled, START, withFleet, type BenchFleet } from "./ledger.ts";
import { cpuSeconds } from "./process.ts";
import { report } from "./report.ts";
import { HOUR_MILLIS } from "../domain/time.ts";

const GPUS = 10_000;
/** The number of teams. Each has a fifth of the GPUs. */
const TEAMS = 5;
const TEAM = "team-3";

/**
 * A month of a fleet charged again from the metered usage, after a price change, on one machine that also runs the store;
 * and the explanation of the charges for a team and for one line.
 */
export async function benchLedgerMonth(): Promise<void> {
  const work = async (fleet: BenchFleet): Promise<void> => {
    const { store } = fleet;
    const month = periodOf(START);
    const hours = await repeatHour(store, month);
    await settled(store);
    await chargeMonth(fleet, hours);
    const where = [{ dimension: "team", values: [TEAM] }];
    const statement = await timed(() => readStatements(store, { policy: "default", where, period: month }, "USD"));
    report("  statement of a team with as many GPUs as one of 50 has of 100,000", statement, "s", { atMost: 1 });
    const booked = { policy: "default", kind: "chargeback", span: month, where } as const;
    const walked = await timed(() => explain(store, booked));
    report("  explanation of its month", walked, "s", {});
    const gpu = { cluster: "test", node: "node-7", slot: 3 };
    const line = await timed(() => explain(store, { policy: "default", at: START, gpu, where: [] }));
    report("  explanation of one line", line, "s", { atMost: 2 });
  };
  await withFleet(GPUS, work, TEAMS);
}

/** Copies the metered usage of one hour to each hour of a month. */
async function repeatHour(
  store: StoreClient,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly StaleWindow[]> {
  const run = {
    cluster: "test",
    generation: 1,
    watermark: new Map<number, number>(),
    publishedAt: START + HOUR_MILLIS,
  };
  const metered = { ...run, windowStart: START, runId: newRunId() };
  const { rows } = await meterWindow(store, metered, { ...rulesAt("55.04"), asOf: START + HOUR_MILLIS });
  const hours = Array.from({ length: (until - from) / HOUR_MILLIS }, (_, hour): StaleWindow => {
    const windowStart = from + hour * HOUR_MILLIS;
    return {
      cluster: "test",
      windowStart,
      usageRun: windowStart === START ? metered.runId : newRunId(),
      servingRun: "",
    };
  });
  for (const { windowStart, usageRun } of hours) {
    if (usageRun === metered.runId) continue;
    const other = { ...run, windowStart, runId: usageRun };
    const moved = USAGE_COLUMNS.map(({ name }) =>
      name === "from_at" || name === "until_at" ? `addMilliseconds(${name}, ${windowStart - START})` : name,
    );
    await store.command(
      `INSERT INTO usage_hours (run_id, ${listOf(USAGE_COLUMNS)})
       SELECT toUUID({other:String}), ${moved.join(", ")} FROM usage_hours
       WHERE run_id = toUUID({run:String}) AND from_at >= fromUnixTimestamp64Milli({start:Int64})`,
      { other: other.runId, run: metered.runId, start: START },
    );
    await publishRun(store, "usage", other, { scrapes: 0, rows, hash: "0" });
  }
  return hours;
}

const CONFIG = `
owners: { team: [{ podLabel: team }] }
prices: [{ match: { instanceType: p5.48xlarge }, from: 2026-01-01, per: node-hour, effective: "60.00", gpuPart: "0.95" }]`;

async function chargeMonth({ address, storeProcess }: BenchFleet, hours: readonly StaleWindow[]): Promise<void> {
  const recharge = createRechargeThreads(parseConfig(CONFIG, { source: "bench", folder: ".", env: {} }), address);
  const turn = { generation: 1, now: Date.now(), closed: NOTHING_CLOSED };
  let memory = 0;
  const watch = setInterval(() => (memory = Math.max(memory, process.memoryUsage.rss())), 50);
  const [begun, own, stores] = [performance.now(), ownSeconds(), cpuSeconds(storeProcess)];
  await inTurns(hours, recharge.atOnce, async (hour) => {
    const [outcome] = await recharge.charge([hour], turn);
    if (outcome?.status !== "fulfilled") throw outcome?.reason;
    const { breaches, chargeRows } = outcome.value;
    if (breaches.length > 0 || chargeRows < GPUS) throw new Error("the hour does not have the expected charges");
  });
  const seconds = (performance.now() - begun) / 1000;
  clearInterval(watch);
  report(`a month of ${GPUS.toLocaleString("en-US")} GPUs charged again`, [seconds], "s", {});
  const used = ownSeconds() - own;
  report("  CPU time of the ledger's process, all of its threads", [used], "s", {});
  report("  the same on two cores", [used / 2], "s", { atMost: 120 });
  report("  CPU time of the store", [cpuSeconds(storeProcess) - stores], "s", {});
  report("  memory of the ledger's process", [memory / 1e6], "MB", { atMost: 1_000 });
  await recharge.stop();
}

function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Returns the seconds of each of five runs. */
async function timed(work: () => Promise<unknown>): Promise<readonly number[]> {
  const runs: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const begun = performance.now();
    await work();
    runs.push((performance.now() - begun) / 1000);
  }
  return runs;
}
