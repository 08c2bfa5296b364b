import { periodOf } from "../domain/period.ts";
import { HOUR_MILLIS } from "../domain/time.ts";
import { readClosed } from "../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../processors/ledger/closed/frozen.ts";
import { computeLedger } from "../processors/ledger/hours/compute-hour.ts";
import { slicesOf } from "../runtime/in-turns.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { inventoryFact, workloadFact } from "../test/support/facts.ts";
import { insertInventory, insertWorkloads } from "../test/support/insert-facts.ts";
import { defineBench, report, withKit, type Kit } from "./frame.ts";
import { secondsOf, withMost } from "./measure.ts";
import {
  benchRules,
  CHARGES,
  CLUSTER,
  copyHour,
  settled,
  startStore,
  type BenchStore,
  type RunTable,
} from "./store.ts";

/** The hour of the fleet. */
export const START = Date.UTC(2026, 2, 1, 12);
const GPUS_PER_NODE = 8;
const SAMPLES_PER_GPU = 120;
const FACTS_PER_INSERT = 4_000;

/**
 * One hour of a fleet with a sample every 30 s and a pod on every GPU. The pods of a node belong to one job, and a tenth of them began within
 * the hour. The hour is metered, allocated, priced, charged and compared with its cost. The memory is that of this process, which is the ledger.
 */
export const ledger = defineBench({
  name: "ledger",
  about: "an hour of a fleet metered and charged",
  options: { gpus: [10_000, 100_000] },
  async run({ gpus }) {
    const seconds: number[] = [];
    for (const each of gpus) seconds.push(await withKit((kit) => measureHour(kit, each)));
    report(`growth of an hour's cost from ${gpus[0]} to ${gpus.at(-1)} GPUs`, seconds.at(-1)! / seconds[0]!, "×", {
      atMost: 11,
    });
  },
});

async function measureHour(kit: Kit, gpus: number): Promise<number> {
  const { store } = await startFleet(kit, gpus);
  const memory = (): number => process.memoryUsage.rss() / 1e6;
  const { result, most } = await withMost(memory, () => computeHour(store, gpus));
  const isLarge = gpus === 100_000;
  report(`an hour of ${gpus} GPUs`, result, "s", isLarge ? { atMost: 20 } : {});
  report("  memory of the ledger's process", most, "MB", isLarge ? { atMost: 1_000 } : {});
  return result[0]!;
}

/** Meters and charges the fleet's hour. Returns the seconds. Fails if charges are missing. */
export async function computeHour(store: StoreClient, gpus: number, generation = 1): Promise<readonly number[]> {
  const turn = {
    generation,
    facts: new Map(),
    now: START + HOUR_MILLIS,
    closed: await readClosed(store),
    weights: createFrozenWeights(store),
  };
  const window = { cluster: CLUSTER, windowStart: START };
  const rules = benchRules();
  return secondsOf(async () => {
    const { breaches, usageRows, chargeRows } = await computeLedger(store, window, rules, turn);
    if (breaches.length > 0 || usageRows < gpus || chargeRows < gpus)
      throw new Error("the hour does not have the expected charges");
  });
}

/** The hours of the first days of the month of the fleet's hour. */
export function hoursOf(days: number): readonly number[] {
  const { from } = periodOf(START);
  return Array.from({ length: days * 24 }, (_, hour) => from + hour * HOUR_MILLIS);
}

/** Copies the rows of the fleet's hour to other hours, each as a run of its own. Returns the runs of the hours. */
export async function copyToHours(
  store: StoreClient,
  table: RunTable,
  hours: readonly number[],
  where = "1",
): Promise<readonly string[]> {
  const runs: string[] = [];
  for (const to of hours) runs.push(await copyHour(store, table, { from: START, to, where }));
  await settled(store);
  return runs;
}

/** Starts a store with a fleet whose charges are the same in each hour of some days of a month. */
export async function startChargedMonth(
  kit: Kit,
  { gpus, teams, days }: { readonly gpus: number; readonly teams: number; readonly days: number },
): Promise<BenchStore> {
  const lent = await startFleet(kit, gpus, teams);
  await computeHour(lent.store, gpus);
  await copyToHours(
    lent.store,
    CHARGES,
    hoursOf(days).filter((hour) => hour !== START),
  );
  return lent;
}

/** Starts a store with the facts and samples of a fleet's hour, as processors would store them. */
export async function startFleet(kit: Kit, gpus: number, teams = 50): Promise<BenchStore> {
  const lent = await startStore(kit);
  const { store } = lent;
  const nodes = gpus / GPUS_PER_NODE;
  const numbers = Array.from({ length: gpus }, (_, number) => number);
  for (const some of slicesOf(numbers, FACTS_PER_INSERT))
    await insertWorkloads(
      store,
      some.map((number) => podOf(number, teams)),
    );
  for (const some of slicesOf(numbers.slice(0, nodes), FACTS_PER_INSERT))
    await insertInventory(store, some.map(nodeOf));
  const pod = `'pod-' || toString(number % ${gpus})`;
  const key = `'GPU-' || toString(number % ${gpus})`;
  const rounds = 8;
  // From before the hour on: a running fleet, and not one that has just started.
  for (let first = -rounds; first < SAMPLES_PER_GPU; first += rounds) {
    await store.command(`
      INSERT INTO gpu_samples (cluster, node, gpu_key, sharing, scraped_at, interval_ms, gpu, uuid, model, namespace, pod, container,
        holder_namespace, holder_pod, evidence, holders, activity_ppm, power_watts, energy_joules, fb_used_bytes, fb_free_bytes, xid_code)
      SELECT '${CLUSTER}', 'node-' || toString(intDiv(number % ${gpus}, ${GPUS_PER_NODE})), ${key}, 'ml/' || ${pod} || '/main//',
        fromUnixTimestamp64Milli(toInt64(${START}) + (${first} + intDiv(number, ${gpus})) * 30000 + intDiv(number % ${gpus}, ${GPUS_PER_NODE}) % 30000),
        30000, toString(number % ${GPUS_PER_NODE}), ${key}, 'NVIDIA H100 80GB HBM3', 'ml', ${pod}, 'main',
        'ml', ${pod}, 'label', 1, rand() % 1000001, toDecimal32(rand() % 700, 3), toDecimal64(${first + rounds} * 10000 + intDiv(number, ${gpus}) * 9000, 3),
        30000000000 + rand() % 1000, 50000000000, 0
      FROM numbers(${rounds * gpus})`);
  }
  await store.command(`
    INSERT INTO scrapes (cluster, node, target, collector, scraped_at, epoch, sequence, interval_ms, devices)
    SELECT '${CLUSTER}', 'node-' || toString(number % ${nodes}), 'node-' || toString(number % ${nodes}), 'c',
      fromUnixTimestamp64Milli(toInt64(${START}) + (intDiv(number, ${nodes}) - ${rounds}) * 30000), 1, intDiv(number, ${nodes}), 30000, ${GPUS_PER_NODE}
    FROM numbers(${nodes * (SAMPLES_PER_GPU + rounds)})`);
  await settled(store);
  return lent;
}

function podOf(number: number, teams: number): ReturnType<typeof workloadFact> {
  const begun = number % 10 === 0 ? START + (number % 3_000) * 1_000 : START - 2 * HOUR_MILLIS;
  const node = Math.floor(number / GPUS_PER_NODE);
  return workloadFact({
    uid: `pod-${number}`,
    name: `pod-${number}`,
    workload: { kind: "Job", name: `job-${node}` },
    node: `node-${node}`,
    times: { created: begun, scheduled: begun, started: begun + 30_000 },
    labels: { team: `team-${node % teams}` },
  });
}

function nodeOf(number: number): ReturnType<typeof inventoryFact> {
  const joined = START - 24 * HOUR_MILLIS;
  return inventoryFact({ node: `node-${number}`, uid: `node-${number}`, joined, seenAtMillis: joined });
}
