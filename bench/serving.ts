import { periodOf } from "../domain/period.ts";
import { HOUR_MILLIS } from "../domain/time.ts";
import { readClosed } from "../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../processors/ledger/closed/frozen.ts";
import { computeLedger } from "../processors/ledger/hours/compute-hour.ts";
import { newRunId, publishRun } from "../processors/ledger/runs/runs.ts";
import { meterServing } from "../processors/ledger/serving/meter-serving.ts";
import { readServing } from "../reports/serving/read-serving.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { SERVING_CHARGE_COLUMNS } from "../runtime/store/schema/serving.ts";
import { listOf } from "../runtime/store/schema/table.ts";
import { rulesAt, settled, START, withFleet } from "./ledger.ts";
import { report } from "./report.ts";

const ENGINES = 2_000;
const GPUS_PER_ENGINE = 8;
const SERVICES_OF_MONTH = 500;
const MODELS = 20;
const TENANTS = 5;
const INTERVAL_MILLIS = 15_000;

/**
 * An hour of 2,000 engines of 8 GPUs that are scraped every 15 s, with a gateway of five tenants for each of 20 models: its metering, its
 * charges with and without engines, and a month of 500 services by model and tenant.
 */
export async function benchServing(): Promise<void> {
  await withFleet(ENGINES * GPUS_PER_ENGINE, async ({ store }) => {
    const without = await charged(store, 1);
    report(`an hour of ${ENGINES * GPUS_PER_ENGINE} GPUs without engines`, [without], "s", {});
    await insertPages(store);
    await settled(store);
    const runs: number[] = [];
    for (let turn = 0; turn < 3; turn++) runs.push(await metered(store));
    report(`an hour of ${ENGINES} engines metered`, runs, "s", {});
    report("the same hour with engines, metered and split", [await charged(store, 2)], "s", {});
    await repeatHour(store);
    await settled(store);
    await askForMonth(store);
  });
}

async function charged(store: StoreClient, generation: number): Promise<number> {
  const now = START + HOUR_MILLIS;
  const turn = {
    generation,
    facts: new Map(),
    now,
    closed: await readClosed(store),
    weights: createFrozenWeights(store),
  };
  const begun = performance.now();
  const { breaches } = await computeLedger(store, { cluster: "test", windowStart: START }, rulesAt("55.04"), turn);
  if (breaches.length > 0) throw new Error("the hour does not have the expected charges");
  return (performance.now() - begun) / 1000;
}

async function metered(store: StoreClient): Promise<number> {
  const run = {
    cluster: "test",
    windowStart: START,
    runId: newRunId(),
    generation: 1,
    watermark: new Map(),
    publishedAt: START,
  };
  const begun = performance.now();
  const content = await meterServing(store, run, START + HOUR_MILLIS);
  if (content === undefined || content.rows < ENGINES * GPUS_PER_ENGINE) throw new Error("engines are missing");
  return (performance.now() - begun) / 1000;
}

/** Stores the pages of an hour: one page for the first pod of each node, and a gateway's. */
async function insertPages(store: StoreClient): Promise<void> {
  const scrapes = HOUR_MILLIS / INTERVAL_MILLIS + 8;
  const at = `fromUnixTimestamp64Milli(toInt64(${START}) + (intDiv(number, ${ENGINES}) - 4) * ${INTERVAL_MILLIS} + (number % ${ENGINES}) % ${INTERVAL_MILLIS})`;
  const page = `'test', 'ml', 'pod-' || toString((number % ${ENGINES}) * ${GPUS_PER_ENGINE}), 'http://' || toString(number % ${ENGINES}), ${at}, ${INTERVAL_MILLIS}`;
  const worked = `intDiv(number, ${ENGINES})`;
  await store.command(`
    INSERT INTO serving_samples (cluster, namespace, pod, target, scraped_at, interval_ms, exporter, kind, model,
      prompt_tokens, computed_prompt_tokens, cached_device_tokens, generation_tokens, requests_stop, queue_us, prefill_us, decode_us, running, waiting)
    SELECT ${page}, 'vllm', 'engine', 'model-' || toString(number % ${MODELS}),
      ${worked} * 9000, ${worked} * 6000, ${worked} * 3000, ${worked} * 2000, ${worked} * 10, ${worked} * 1000, ${worked} * 2000000,
      ${worked} * 7000000, number % 5, 0
    FROM numbers(${ENGINES * scrapes})`);
  await store.command(`
    INSERT INTO serving_scrapes (cluster, namespace, pod, target, scraped_at, interval_ms, collector, epoch, sequence, exporter, series)
    SELECT ${page}, 'c', 1, intDiv(number, ${ENGINES}), 'vllm', 1 FROM numbers(${ENGINES * scrapes})`);
  const tenants = MODELS * TENANTS;
  const ofGateway = `'test', 'http://gateway', fromUnixTimestamp64Milli(toInt64(${START}) + (intDiv(number, ${tenants}) - 4) * ${INTERVAL_MILLIS}), ${INTERVAL_MILLIS}`;
  await store.command(`
    INSERT INTO serving_samples (cluster, target, scraped_at, interval_ms, exporter, kind, model, tenant, prompt_tokens, generation_tokens)
    SELECT ${ofGateway}, 'litellm', 'gateway', 'model-' || toString(number % ${MODELS}), 'tenant-' || toString(intDiv(number % ${tenants}, ${MODELS})),
      intDiv(number, ${tenants}) * 160000, intDiv(number, ${tenants}) * 38000
    FROM numbers(${tenants * scrapes})`);
  await store.command(`
    INSERT INTO serving_scrapes (cluster, target, scraped_at, interval_ms, collector, epoch, sequence, exporter, series)
    SELECT 'test', 'http://gateway', fromUnixTimestamp64Milli(toInt64(${START}) + (number - 4) * ${INTERVAL_MILLIS}), ${INTERVAL_MILLIS}, 'c', 1, number, 'litellm', ${tenants}
    FROM numbers(${scrapes})`);
}

/** Copies the lines of an hour of 500 services to each hour of the month. */
async function repeatHour(store: StoreClient): Promise<void> {
  const { from, until } = periodOf(START);
  const [made] = await store.query<{ run: string }>(
    "SELECT toString(any(run_id)) AS run FROM serving_charges_published",
  );
  const moved = SERVING_CHARGE_COLUMNS.map(({ name }) =>
    name === "hour" ? "fromUnixTimestamp64Milli({start:Int64})" : name,
  );
  for (let windowStart = from; windowStart < until; windowStart += HOUR_MILLIS) {
    const other = {
      cluster: "test",
      windowStart,
      runId: newRunId(),
      generation: 3,
      watermark: new Map(),
      publishedAt: until,
    };
    await store.command(
      `INSERT INTO serving_charges (run_id, ${listOf(SERVING_CHARGE_COLUMNS)})
       SELECT toUUID({other:String}), ${moved.join(", ")} FROM serving_charges
       WHERE run_id = toUUID({run:String}) AND workload IN (SELECT 'job-' || toString(number) FROM numbers(${SERVICES_OF_MONTH}))`,
      { other: other.runId, run: made!.run, start: windowStart },
    );
    await publishRun(store, "charge", other, { scrapes: 0, rows: 0, hash: "0" });
  }
}

async function askForMonth(store: StoreClient): Promise<void> {
  const { name, from, until } = periodOf(START);
  const [counted] = await store.query<{ lines: string }>(
    "SELECT toString(count()) AS lines FROM serving_charges_published",
  );
  process.stdout.write(`  ${counted!.lines} lines of a month\n`);
  const runs: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const begun = performance.now();
    const { rows } = await readServing(
      store,
      {
        policy: "default",
        rule: "gpu-time",
        kind: "showback",
        span: { name, from, until },
        by: ["model", "tenant"],
        where: [],
      },
      "USD",
    );
    runs.push((performance.now() - begun) / 1000);
    if (rows.length < MODELS * (TENANTS + 1)) throw new Error(`${rows.length} rows`);
  }
  report(`a month of ${SERVICES_OF_MONTH} services by model and tenant`, runs, "s", { atMost: 1 });
}
