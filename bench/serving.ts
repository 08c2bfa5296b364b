import { periodOf } from "../domain/period.ts";
import { HOUR_MILLIS } from "../domain/time.ts";
import { meterServing } from "../processors/ledger/serving/meter-serving.ts";
import { newRunId } from "../processors/ledger/runs/runs.ts";
import { readServing } from "../reports/serving/read-serving.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { defineBench, report } from "./frame.ts";
import { computeHour, copyToHours, hoursOf, START, startFleet } from "./ledger.ts";
import { secondsOf } from "./measure.ts";
import { CLUSTER, SERVING_CHARGES, settled } from "./store.ts";

const GPUS_PER_ENGINE = 8;
const MODELS = 20;
const TENANTS = 5;
const INTERVAL_MILLIS = 15_000;

/**
 * An hour of engines of 8 GPUs that are scraped every 15 s, with a gateway of five tenants for each of 20 models: its metering, its
 * charges with and without engines, and a month of services by model and tenant.
 */
export const serving = defineBench({
  name: "serving",
  about: "an hour of engines, and a month of services by model and tenant",
  options: { engines: 2_000, services: 500, days: 31 },
  async run({ engines, services, days }, kit) {
    const gpus = engines * GPUS_PER_ENGINE;
    const { store } = await startFleet(kit, gpus);
    report(`an hour of ${gpus} GPUs without engines`, await computeHour(store, gpus), "s");
    await insertPages(store, engines);
    await settled(store);
    report(`an hour of ${engines} engines metered`, await secondsOf(() => meter(store, gpus), 3), "s");
    report("the same hour with engines, metered and split", await computeHour(store, gpus, 2), "s");
    const ofServices = `workload IN (SELECT 'job-' || toString(number) FROM numbers(${services}))`;
    await copyToHours(store, SERVING_CHARGES, hoursOf(days), ofServices);
    const [counted] = await store.query<{ lines: number }>(
      "SELECT toFloat64(count()) AS lines FROM serving_charges_published",
    );
    report("lines of a month", counted!.lines);
    const question = {
      policy: "default",
      rule: "gpu-time",
      kind: "showback",
      span: periodOf(START),
      where: [],
    } as const;
    const ask = async (): Promise<void> => {
      const { rows } = await readServing(store, { ...question, by: ["model", "tenant"] }, "USD");
      if (rows.length < Math.min(MODELS, services) * (TENANTS + 1)) throw new Error(`${rows.length} rows`);
    };
    report(`a month of ${services} services by model and tenant`, await secondsOf(ask, 5), "s", { atMost: 1 });
  },
});

async function meter(store: StoreClient, gpus: number): Promise<void> {
  const window = { cluster: CLUSTER, windowStart: START, publishedAt: START };
  const run = { ...window, runId: newRunId(), generation: 1, watermark: new Map() };
  const content = await meterServing(store, run, START + HOUR_MILLIS);
  if (content === undefined || content.rows < gpus) throw new Error("engines are missing");
}

/** Stores the pages of an hour: one page for the first pod of each node, and a gateway's. */
async function insertPages(store: StoreClient, engines: number): Promise<void> {
  const scrapes = HOUR_MILLIS / INTERVAL_MILLIS + 8;
  const at = `fromUnixTimestamp64Milli(toInt64(${START}) + (intDiv(number, ${engines}) - 4) * ${INTERVAL_MILLIS} + (number % ${engines}) % ${INTERVAL_MILLIS})`;
  const page = `'${CLUSTER}', 'ml', 'pod-' || toString((number % ${engines}) * ${GPUS_PER_ENGINE}), 'http://' || toString(number % ${engines}), ${at}, ${INTERVAL_MILLIS}`;
  const worked = `intDiv(number, ${engines})`;
  await store.command(`
    INSERT INTO serving_samples (cluster, namespace, pod, target, scraped_at, interval_ms, exporter, kind, model,
      prompt_tokens, computed_prompt_tokens, cached_device_tokens, generation_tokens, requests_stop, queue_us, prefill_us, decode_us, running, waiting)
    SELECT ${page}, 'vllm', 'engine', 'model-' || toString(number % ${MODELS}),
      ${worked} * 9000, ${worked} * 6000, ${worked} * 3000, ${worked} * 2000, ${worked} * 10, ${worked} * 1000, ${worked} * 2000000,
      ${worked} * 7000000, number % 5, 0
    FROM numbers(${engines * scrapes})`);
  await store.command(`
    INSERT INTO serving_scrapes (cluster, namespace, pod, target, scraped_at, interval_ms, collector, epoch, sequence, exporter, series)
    SELECT ${page}, 'c', 1, intDiv(number, ${engines}), 'vllm', 1 FROM numbers(${engines * scrapes})`);
  const tenants = MODELS * TENANTS;
  const ofGateway = `'${CLUSTER}', 'http://gateway', fromUnixTimestamp64Milli(toInt64(${START}) + (intDiv(number, ${tenants}) - 4) * ${INTERVAL_MILLIS}), ${INTERVAL_MILLIS}`;
  await store.command(`
    INSERT INTO serving_samples (cluster, target, scraped_at, interval_ms, exporter, kind, model, tenant, prompt_tokens, generation_tokens)
    SELECT ${ofGateway}, 'litellm', 'gateway', 'model-' || toString(number % ${MODELS}), 'tenant-' || toString(intDiv(number % ${tenants}, ${MODELS})),
      intDiv(number, ${tenants}) * 160000, intDiv(number, ${tenants}) * 38000
    FROM numbers(${tenants * scrapes})`);
  await store.command(`
    INSERT INTO serving_scrapes (cluster, target, scraped_at, interval_ms, collector, epoch, sequence, exporter, series)
    SELECT '${CLUSTER}', 'http://gateway', fromUnixTimestamp64Milli(toInt64(${START}) + (number - 4) * ${INTERVAL_MILLIS}), ${INTERVAL_MILLIS}, 'c', 1, number, 'litellm', ${tenants}
    FROM numbers(${scrapes})`);
}
