import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import pino from "pino";
import type { InventoryFact } from "../domain/inventory.ts";
import { encodeInventory, encodeWorkload } from "../domain/messages/fact-message.ts";
import { INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../domain/messages/topics.ts";
import type { WorkloadFact } from "../domain/workload.ts";
import { readClosed } from "../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../processors/ledger/closed/frozen.ts";
import { insertFacts, readFact, type FactRow } from "../processors/ingest/facts.ts";
import { computeLedger } from "../processors/ledger/hours/compute-hour.ts";
import { ledgerRules, type LedgerRules } from "../processors/ledger/charging/rules.ts";
import { createStoreClient, type StoreClient } from "../runtime/store/client.ts";
import { MIGRATIONS_FOLDER, type StoreAddress } from "../runtime/store/connection.ts";
import { STORE_PROGRAM } from "../runtime/store/embedded/program.ts";
import { startEmbeddedStore } from "../runtime/store/embedded/supervisor.ts";
import { migrate } from "../runtime/store/migrate.ts";
import { readScenario } from "../scenarios/read.ts";
import { rulesOf } from "../scenarios/rules.ts";
import { inventoryFact, workloadFact } from "../test/support/facts.ts";
import { report } from "./report.ts";
import { HOUR_MILLIS } from "../domain/time.ts";

export const START = Date.UTC(2026, 2, 1, 12);
const GPUS_PER_NODE = 8;
const SAMPLES_PER_GPU = 120;
const FACTS_PER_INSERT = 4_000;
const SIZES = [10_000, 100_000] as const;

/**
 * One hour of a fleet with a sample every 30 s and a pod on every GPU. The pods of a node belong to one job, and a tenth of them began within the hour. The hour is metered, allocated,
 * priced, charged and compared with its cost. The memory is that of this process, which is the ledger.
 */
export async function benchLedger(): Promise<void> {
  const seconds: number[] = [];
  for (const gpus of SIZES) seconds.push(await oneHour(gpus));
  report("growth of an hour's cost from 10,000 to 100,000 GPUs", [seconds[1]! / seconds[0]!], "×", { atMost: 11 });
}

async function oneHour(gpus: number): Promise<number> {
  return withFleet(gpus, ({ store }) => compute(store, gpus));
}

/** A store for a bench, with its client. */
export interface BenchFleet {
  readonly store: StoreClient;
  readonly address: StoreAddress;
  readonly storeProcess: number;
  /** A folder that is deleted afterwards. */
  readonly folder: string;
}

/** Lends a separate store with a fleet's hour, and deletes it afterwards. */
export function withFleet<Result>(
  gpus: number,
  work: (fleet: BenchFleet) => Promise<Result>,
  teams = 50,
): Promise<Result> {
  return withStore(async (fleet) => {
    await fill(fleet.store, gpus, teams);
    await settled(fleet.store);
    return work(fleet);
  });
}

/** Lends a store with empty tables, and deletes it afterwards. */
export async function withStore<Result>(work: (fleet: BenchFleet) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-ledger-"));
  const logger = pino({ level: "silent" });
  const embedded = await startEmbeddedStore({ folder, program: [process.execPath, STORE_PROGRAM], logger });
  const connect = (database: string): StoreClient =>
    createStoreClient({ url: embedded.url, ...embedded.user, database, requestTimeoutMillis: 600_000 });
  const store = connect("bench");
  try {
    const retentionDays = { raw: 0, fiveMinutes: 0 };
    await migrate({ connect, database: "bench", folder: MIGRATIONS_FOLDER, retentionDays, now: Date.now, logger });
    const address = { url: embedded.url, ...embedded.user, database: "bench" };
    return await work({ store, address, folder, storeProcess: embedded.processId! });
  } finally {
    await store.close();
    await embedded.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The rules of the fleet's charges, with a price per node-hour. */
export function rulesAt(price: string): LedgerRules {
  return ledgerRules(
    rulesOf(
      readScenario(
        `title: prices
period: { start: 2026-03-01T12:00:00Z, end: 2026-03-01T13:00:00Z }
owners: { team: [{ podLabel: team }] }
prices: [{ match: { instanceType: p5.48xlarge }, from: 2026-01-01, per: node-hour, effective: "${price}", gpuPart: "0.95" }]`,
        "bench",
      ),
    ),
    "",
  );
}

async function compute(store: StoreClient, gpus: number): Promise<number> {
  const rules = rulesAt("55.04");
  const now = START + HOUR_MILLIS;
  const closed = await readClosed(store);
  const turn = { generation: 1, facts: new Map(), now, closed, weights: createFrozenWeights(store) };
  let memory = 0;
  const watch = setInterval(() => (memory = Math.max(memory, process.memoryUsage.rss())), 50);
  const begun = performance.now();
  const computed = await computeLedger(store, { cluster: "test", windowStart: START }, rules, turn);
  const seconds = (performance.now() - begun) / 1000;
  clearInterval(watch);
  if (computed.breaches.length > 0 || computed.usageRows < gpus || computed.chargeRows < gpus)
    throw new Error("the hour does not have the expected charges");
  const promised = gpus === 100_000 ? { atMost: 20 } : {};
  report(`an hour of ${gpus.toLocaleString("en-US")} GPUs`, [seconds], "s", promised);
  report("  memory of the ledger's process", [memory / 1e6], "MB", gpus === 100_000 ? { atMost: 1_000 } : {});
  return seconds;
}

/** Waits until the store has merged the rows. Here they arrive at once, in operation over an hour. */
export async function settled(store: StoreClient): Promise<void> {
  const merging = (): Promise<readonly unknown[]> => store.query("SELECT 1 FROM system.merges");
  for (let quiet = 0; quiet < 3; quiet = (await merging()).length === 0 ? quiet + 1 : 0) await setTimeout(1_000);
}

/** Stores the facts and samples of a fleet's hour, as processors would. */
async function fill(store: StoreClient, gpus: number, teams: number): Promise<void> {
  const nodes = gpus / GPUS_PER_NODE;
  for (let first = 0; first < gpus; first += FACTS_PER_INSERT) {
    const numbers = Array.from({ length: Math.min(FACTS_PER_INSERT, gpus - first) }, (_, index) => first + index);
    await insertFacts(
      store,
      numbers.map((number) => rowOf(WORKLOADS_TOPIC, encodeWorkload(podOf(number, teams)))),
    );
  }
  for (let first = 0; first < nodes; first += FACTS_PER_INSERT) {
    const numbers = Array.from({ length: Math.min(FACTS_PER_INSERT, nodes - first) }, (_, index) => first + index);
    await insertFacts(
      store,
      numbers.map((number) => rowOf(INVENTORY_TOPIC, encodeInventory(nodeOf(number)))),
    );
  }
  const pod = `'pod-' || toString(number % ${gpus})`;
  const key = `'GPU-' || toString(number % ${gpus})`;
  const rounds = 8;
  // From before the hour on: a running fleet, and not one that has just started.
  for (let first = -rounds; first < SAMPLES_PER_GPU; first += rounds) {
    await store.command(`
      INSERT INTO gpu_samples (cluster, node, gpu_key, sharing, scraped_at, interval_ms, gpu, uuid, model, namespace, pod, container,
        holder_namespace, holder_pod, evidence, holders, activity_ppm, power_watts, energy_joules, fb_used_bytes, fb_free_bytes, xid_code)
      SELECT 'test', 'node-' || toString(intDiv(number % ${gpus}, ${GPUS_PER_NODE})), ${key}, 'ml/' || ${pod} || '/main//',
        fromUnixTimestamp64Milli(toInt64(${START}) + (${first} + intDiv(number, ${gpus})) * 30000 + intDiv(number % ${gpus}, ${GPUS_PER_NODE}) % 30000),
        30000, toString(number % ${GPUS_PER_NODE}), ${key}, 'NVIDIA H100 80GB HBM3', 'ml', ${pod}, 'main',
        'ml', ${pod}, 'label', 1, rand() % 1000001, toDecimal32(rand() % 700, 3), toDecimal64(${first + rounds} * 10000 + intDiv(number, ${gpus}) * 9000, 3),
        30000000000 + rand() % 1000, 50000000000, 0
      FROM numbers(${rounds * gpus})`);
  }
  await store.command(`
    INSERT INTO scrapes (cluster, node, target, collector, scraped_at, epoch, sequence, interval_ms, devices)
    SELECT 'test', 'node-' || toString(number % ${nodes}), 'node-' || toString(number % ${nodes}), 'c',
      fromUnixTimestamp64Milli(toInt64(${START}) + (intDiv(number, ${nodes}) - ${rounds}) * 30000), 1, intDiv(number, ${nodes}), 30000, ${GPUS_PER_NODE}
    FROM numbers(${nodes * (SAMPLES_PER_GPU + rounds)})`);
}

function podOf(number: number, teams: number): WorkloadFact {
  const begun = number % 10 === 0 ? START + (number % 3_000) * 1_000 : START - 2 * HOUR_MILLIS;
  return workloadFact({
    uid: `pod-${number}`,
    name: `pod-${number}`,
    workload: { kind: "Job", name: `job-${Math.floor(number / GPUS_PER_NODE)}` },
    node: `node-${Math.floor(number / GPUS_PER_NODE)}`,
    times: { created: begun, scheduled: begun, started: begun + 30_000 },
    labels: { team: `team-${Math.floor(number / GPUS_PER_NODE) % teams}` },
  });
}

function nodeOf(number: number): InventoryFact {
  return inventoryFact({
    node: `node-${number}`,
    uid: `node-${number}`,
    joined: START - 24 * HOUR_MILLIS,
    seenAtMillis: START - 24 * HOUR_MILLIS,
  });
}

function rowOf(topic: string, { value }: { readonly value: Uint8Array }): { readonly value: FactRow } {
  const read = readFact({ topic, value: Buffer.from(value), intact: true });
  if (read.kind !== "ok") throw new Error(read.reason);
  return { value: read.value };
}
