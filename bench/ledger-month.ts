import { periodOf } from "../domain/period.ts";
import { chargeWindow } from "../processors/charges.ts";
import { meterWindow } from "../processors/meter.ts";
import { USAGE_COLUMNS } from "../processors/meter/usage-rows.ts";
import { HOUR_MILLIS } from "../processors/rollup/window.ts";
import { readStatements } from "../reports/statements/read.ts";
import { newRunId, publishRun } from "../processors/runs.ts";
import { explain } from "../reports/explain/read.ts";
import { inTurns } from "../runtime/in-turns.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { rulesAt, settled, START, withFleet } from "./ledger.ts";
import { cpuSeconds } from "./process.ts";
import { report } from "./report.ts";

const GPUS = 10_000;
const HOURS_AT_ONCE = 3;
/** Each has a fifth of the GPUs. */
const TEAMS = 5;
const TEAM = "team-3";

/**
 * A month of a fleet charged again from what the meter has found, after a price change, as far as one machine can that runs the store
 * as well; and what was charged, walked down for a team and for one line.
 */
export async function benchLedgerMonth(): Promise<void> {
  const work = async ({ store, storeProcess }: { readonly store: StoreClient; readonly storeProcess: number }) => {
    const month = periodOf(START);
    const hours = await repeatHour(store, month);
    await settled(store);
    await chargeMonth(store, storeProcess, hours);
    const where = [{ dimension: "team", values: [TEAM] }];
    const statement = await timed(() => readStatements(store, { policy: "default", where, period: month }, "USD"));
    report("  statement of a team with as many GPUs as one of 50 has of 100,000", statement, "s", { atMost: 1 });
    const booked = { policy: "default", kind: "chargeback", span: month, where } as const;
    const walked = await timed(() => explain(store, booked));
    report("  its month, walked down", walked, "s", {});
    const gpu = { cluster: "test", node: "node-7", slot: 3 };
    const line = await timed(() => explain(store, { policy: "default", at: START, gpu, where: [] }));
    report("  one line, walked down", line, "s", { atMost: 2 });
  };
  await withFleet(GPUS, work, TEAMS);
}

/** The usage of one hour, metered, as that of each hour of a month. */
async function repeatHour(
  store: StoreClient,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly number[]> {
  const run = {
    cluster: "test",
    generation: 1,
    watermark: new Map<number, number>(),
    publishedAt: START + HOUR_MILLIS,
  };
  const metered = { ...run, windowStart: START, runId: newRunId() };
  const { rows } = await meterWindow(store, metered, { ...rulesAt("55.04"), asOf: START + HOUR_MILLIS });
  const hours = Array.from({ length: (until - from) / HOUR_MILLIS }, (_, hour) => from + hour * HOUR_MILLIS);
  for (const windowStart of hours.filter((hour) => hour !== START)) {
    const other = { ...run, windowStart, runId: newRunId() };
    const moved = USAGE_COLUMNS.map((name) =>
      name === "from_at" || name === "until_at" ? `addMilliseconds(${name}, ${windowStart - START})` : name,
    );
    await store.command(
      `INSERT INTO usage_hours (run_id, ${USAGE_COLUMNS.join(", ")})
       SELECT toUUID({other:String}), ${moved.join(", ")} FROM usage_hours
       WHERE run_id = toUUID({run:String}) AND from_at >= fromUnixTimestamp64Milli({start:Int64})`,
      { other: other.runId, run: metered.runId, start: START },
    );
    await publishRun(store, "usage", other, { scrapes: 0, rows, hash: "0" });
  }
  return hours;
}

async function chargeMonth(store: StoreClient, storeProcess: number, hours: readonly number[]): Promise<void> {
  const { charge } = rulesAt("60.00");
  let memory = 0;
  const watch = setInterval(() => (memory = Math.max(memory, process.memoryUsage.rss())), 50);
  const [begun, own, stores] = [performance.now(), ownSeconds(), cpuSeconds(storeProcess)];
  await inTurns(hours, HOURS_AT_ONCE, async (windowStart) => {
    const run = { cluster: "test", windowStart, runId: newRunId(), generation: 1, watermark: new Map() };
    const { breaches } = await chargeWindow(store, { ...run, publishedAt: windowStart + HOUR_MILLIS }, charge);
    if (breaches.length > 0) throw new Error("the hour is not what it should be");
  });
  const seconds = (performance.now() - begun) / 1000;
  clearInterval(watch);
  report(`a month of ${GPUS.toLocaleString("en-US")} GPUs charged again`, [seconds], "s", {});
  report("  CPU time of the ledger's process", [ownSeconds() - own], "s", {});
  report("  CPU time of the store", [cpuSeconds(storeProcess) - stores], "s", {});
  report("  memory of the ledger's process", [memory / 1e6], "MB", { atMost: 1_000 });
}

function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Seconds of each of five times. */
async function timed(work: () => Promise<unknown>): Promise<readonly number[]> {
  const runs: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const begun = performance.now();
    await work();
    runs.push((performance.now() - begun) / 1000);
  }
  return runs;
}
