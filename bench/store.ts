import { setTimeout as pause } from "node:timers/promises";
import pino from "pino";
import { HOUR_MILLIS } from "../domain/time.ts";
import { ledgerRules, type LedgerRules } from "../processors/ledger/charging/rules.ts";
import { newRunId, publishRun, type RunKind } from "../processors/ledger/runs/runs.ts";
import { createStoreClient, type StoreClient } from "../runtime/store/client.ts";
import { MIGRATIONS_FOLDER, type StoreAddress } from "../runtime/store/connection.ts";
import { CHARGE_VIEWS } from "../runtime/store/schema/charge-views.ts";
import { STORE_PROGRAM } from "../runtime/store/embedded/program.ts";
import { startEmbeddedStore } from "../runtime/store/embedded/supervisor.ts";
import { migrate } from "../runtime/store/migrate.ts";
import { CHARGE_COLUMNS } from "../runtime/store/schema/charges.ts";
import { ROLLUP_COLUMNS } from "../runtime/store/schema/rollups.ts";
import { SERVING_CHARGE_COLUMNS } from "../runtime/store/schema/serving.ts";
import { namesOf } from "../runtime/store/schema/table.ts";
import { USAGE_COLUMNS } from "../runtime/store/schema/usage.ts";
import { readScenario } from "../scenarios/read.ts";
import { rulesOf } from "../scenarios/rules.ts";
import type { Kit } from "./frame.ts";

/** The cluster of the fleets. */
export const CLUSTER = "test";

/** A store for a bench, with its client. */
export interface BenchStore {
  readonly store: StoreClient;
  readonly address: StoreAddress;
  readonly processId: number;
}

/** Starts a store with empty tables. */
export async function startStore(kit: Kit): Promise<BenchStore> {
  const logger = pino({ level: "silent" });
  const program = [process.execPath, STORE_PROGRAM];
  const embedded = await startEmbeddedStore({ folder: kit.folder(), program, logger });
  kit.atEnd(() => embedded.stop());
  const address = { url: embedded.url, ...embedded.user, database: "bench" };
  const connect = (database: string): StoreClient =>
    createStoreClient({ ...address, database, requestTimeoutMillis: 600_000 });
  const retentionDays = { raw: 0, fiveMinutes: 0 };
  const migrations = { folder: MIGRATIONS_FOLDER, views: CHARGE_VIEWS };
  await migrate({ connect, database: "bench", ...migrations, retentionDays, now: Date.now, logger });
  const store = connect("bench");
  kit.atEnd(() => store.close());
  return { store, address, processId: embedded.processId! };
}

/** Returns the key `store` of the configuration of a command that reads the store. */
export function storeConfig({ address: { url, username, password, database } }: BenchStore): object {
  return { kind: "clickhouse", database, clickhouse: { url, username, password } };
}

/** Waits until the store has merged the rows. Here they arrive at once, in operation over an hour. */
export async function settled(store: StoreClient): Promise<void> {
  const merging = (): Promise<readonly unknown[]> => store.query("SELECT 1 FROM system.merges");
  for (let quiet = 0; quiet < 3; quiet = (await merging()).length === 0 ? quiet + 1 : 0) await pause(1_000);
}

/** Merges tables. Returns their rows and bytes on disk, without empty tables. */
export async function sizesOf(
  store: StoreClient,
  tables: readonly string[],
): Promise<readonly { readonly table: string; readonly rows: number; readonly bytes: number }[]> {
  for (const table of tables) await store.command(`OPTIMIZE TABLE ${table} FINAL`);
  return store.query(
    `SELECT table, toFloat64(sum(rows)) AS rows, toFloat64(sum(bytes_on_disk)) AS bytes FROM system.parts
     WHERE active AND database = currentDatabase() AND has({tables:Array(String)}, table)
     GROUP BY table ORDER BY indexOf({tables:Array(String)}, table)`,
    { tables },
  );
}

/** The rules of a fleet's charges, with a price per node-hour. */
export function benchRules(): LedgerRules {
  const text = `title: prices
period: { start: 2026-03-01T12:00:00Z, end: 2026-03-01T13:00:00Z }
owners: { team: [{ podLabel: team }] }
prices: [{ match: { instanceType: p5.48xlarge }, from: 2026-01-01, per: node-hour, effective: "55.04", gpuPart: "0.95" }]`;
  return ledgerRules(rulesOf(readScenario(text, "bench")), "");
}

/** A table with rows of runs. */
export interface RunTable {
  readonly kind: RunKind;
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns that are times of the hour. The first one is within the hour. */
  readonly times: readonly string[];
}

const SPAN = ["from_at", "until_at"];
export const USAGE: RunTable = { kind: "usage", name: "usage_hours", columns: namesOf(USAGE_COLUMNS), times: SPAN };
export const CHARGES: RunTable = { kind: "charge", name: "charges", columns: namesOf(CHARGE_COLUMNS), times: SPAN };
export const ROLLUPS: RunTable = { kind: "rollup", name: "gpu_5m", columns: ROLLUP_COLUMNS, times: ["bucket"] };
export const SERVING_CHARGES: RunTable = {
  kind: "charge",
  name: "serving_charges",
  columns: namesOf(SERVING_CHARGE_COLUMNS),
  times: ["hour"],
};

/** Copies an hour's rows to another hour or to the same one, as a new run, and publishes the run. Returns the name of the run. */
export async function copyHour(
  store: StoreClient,
  { kind, name, columns, times }: RunTable,
  hour: { readonly from: number; readonly to: number; readonly where?: string; readonly publishedAt?: number },
): Promise<string> {
  const { from, to, where = "1", publishedAt = to + HOUR_MILLIS } = hour;
  const runId = newRunId();
  const isOfHour = `${times[0]} >= fromUnixTimestamp64Milli({from:Int64}) AND ${times[0]} < fromUnixTimestamp64Milli({until:Int64})`;
  const moved = columns.map((column) => (times.includes(column) ? `addMilliseconds(${column}, ${to - from})` : column));
  await store.command(
    `INSERT INTO ${name} (run_id, ${columns.join(", ")}) SELECT toUUID({runId:String}), ${moved.join(", ")} FROM ${name}
     WHERE ${isOfHour} AND ${where} AND run_id = (SELECT any(run_id) FROM ${name} WHERE ${isOfHour} AND ${where})`,
    { runId, from, until: from + HOUR_MILLIS },
  );
  const [made] = await store.query<{ rows: number }>(
    `SELECT toFloat64(count()) AS rows FROM ${name} WHERE run_id = toUUID({runId:String}) AND ${isOfHour}`,
    { runId, from: to, until: to + HOUR_MILLIS },
  );
  const run = { cluster: CLUSTER, windowStart: to, runId, generation: 3, watermark: new Map(), publishedAt };
  await publishRun(store, kind, run, { scrapes: 0, rows: made!.rows, hash: "0" });
  return runId;
}
