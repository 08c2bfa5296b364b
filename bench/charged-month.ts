import { chargeWindow } from "../processors/ledger/charging/charge-window.ts";
import { meterWindow } from "../processors/ledger/metering/meter.ts";
import { newRunId, publishRun } from "../processors/ledger/runs/runs.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { CHARGE_COLUMNS } from "../runtime/store/schema/charges.ts";
import { listOf } from "../runtime/store/schema/table.ts";
import { rulesAt, START } from "./ledger.ts";
import { HOUR_MILLIS } from "../domain/time.ts";

/** Charges one hour, and copies its charges to each hour of a month. Returns the lines of an hour. */
export async function chargeMonth(
  store: StoreClient,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<number> {
  const rules = rulesAt("55.04");
  const run = { cluster: "test", generation: 1, watermark: new Map<number, number>(), publishedAt: until };
  const metered = { ...run, windowStart: START, runId: newRunId() };
  await meterWindow(store, metered, { ...rules, asOf: START + HOUR_MILLIS });
  const charged = { ...run, windowStart: START, runId: newRunId() };
  const { chargeRows: rows } = await chargeWindow(store, charged, rules.charge);
  for (let windowStart = from; windowStart < until; windowStart += HOUR_MILLIS) {
    if (windowStart === START) continue;
    const other = { ...run, windowStart, runId: newRunId() };
    const moved = CHARGE_COLUMNS.map(({ name }) =>
      name === "from_at" || name === "until_at" ? `addMilliseconds(${name}, ${windowStart - START})` : name,
    );
    await store.command(
      `INSERT INTO charges (run_id, ${listOf(CHARGE_COLUMNS)})
       SELECT toUUID({other:String}), ${moved.join(", ")} FROM charges WHERE run_id = toUUID({run:String})`,
      { other: other.runId, run: charged.runId },
    );
    await publishRun(store, "charge", other, { scrapes: 0, rows, hash: "0" });
  }
  return rows;
}

/** Publishes one hour's charges again, as the ledger does when it refreshes the current hour. */
export async function publishAgain(store: StoreClient, windowStart: number): Promise<void> {
  const [old] = await store.query<{ run: string; rows: string }>(
    `SELECT toString(run_id) AS run, toString(count()) AS rows FROM charges
     WHERE from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})
     GROUP BY run_id ORDER BY count() DESC LIMIT 1`,
    { from: windowStart, until: windowStart + HOUR_MILLIS },
  );
  const runId = newRunId();
  await store.command(
    `INSERT INTO charges (run_id, ${listOf(CHARGE_COLUMNS)})
     SELECT toUUID({runId:String}), ${listOf(CHARGE_COLUMNS)} FROM charges WHERE run_id = toUUID({run:String})`,
    { runId, run: old!.run },
  );
  const run = {
    cluster: "test",
    windowStart,
    runId,
    generation: 1,
    watermark: new Map<number, number>(),
    publishedAt: Date.now(),
  };
  await publishRun(store, "charge", run, { scrapes: 0, rows: Number(old!.rows), hash: "0" });
}
