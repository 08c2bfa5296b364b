import type { Window } from "../../../domain/advice/evidence.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { podKey } from "./device-stats.ts";

/** The demand on the engines of a pod, from their pages. */
export interface EngineDemand {
  /**
   * By the hour's number: the highest demand over five minutes, in parts per million of the pod, and the most requests that ran on average
   * over five minutes.
   */
  readonly hours: ReadonlyMap<number, { readonly ppm: number; readonly running: number }>;
  /** The most requests that ran while another one waited; 0 if none has waited. */
  readonly limit: number;
}

const INTERVAL_SECONDS = 300;

const increaseOf = (counter: string): string =>
  `deltaSumTimestampIf(ifNull(${counter}, 0), toUnixTimestamp64Milli(scraped_at), ${counter} IS NOT NULL)`;

/**
 * Selects the demand on each engine in five minutes: the part of its key-value cache that is used, or the part of the time in which a request
 * is in prefill, whichever is more. Prefill needs the whole GPU, and decode needs room in the cache. An engine with at least one waiting
 * request on average is full. Counters that fall add nothing.
 */
const DEMAND = `
WITH lines AS (
  SELECT namespace, pod, target, part, intDiv(toUnixTimestamp(scraped_at), ${INTERVAL_SECONDS}) AS bucket,
    avg(kv_cache_ppm) AS cache, avg(ifNull(running, 0)) AS requests, avg(ifNull(waiting, 0)) AS queued,
    maxIf(ifNull(running, 0), waiting > 0) AS limit,
    if(count(gpu_prefill_us) > 0, ${increaseOf("gpu_prefill_us")}, ${increaseOf("prefill_us")}) AS prefill,
    1000 * (max(toUnixTimestamp64Milli(scraped_at)) - min(toUnixTimestamp64Milli(scraped_at))) AS micros
  FROM serving_samples FINAL
  WHERE cluster = {cluster:String} AND kind = 'engine' AND namespace IN {namespaces:Array(String)}
    AND scraped_at >= fromUnixTimestamp({from:Int64}) AND scraped_at < fromUnixTimestamp({until:Int64})
  GROUP BY namespace, pod, target, part, model, adapter, bucket
),
engines AS (
  SELECT namespace, pod, bucket, max(lines.cache) AS used, sum(requests) AS running, max(lines.limit) AS most,
    if(sum(queued) >= 1, 1e6, greatest(used, 1e6 * least(1, sum(prefill / greatest(1, micros))))) AS demand
  FROM lines
  GROUP BY namespace, pod, target, part, bucket
),
hours AS (
  SELECT namespace, pod, intDiv(bucket * ${INTERVAL_SECONDS} - {from:Int64}, 3600) AS hour,
    max(demand) AS ppm, max(running) AS highest, max(most) AS most_of_hour
  FROM engines
  WHERE used IS NOT NULL
  GROUP BY namespace, pod, hour
)
SELECT toString(namespace) AS namespace, pod, toFloat64(max(most_of_hour)) AS limit,
  groupArray((toFloat64(hour), toFloat64(round(ppm)), toFloat64(highest))) AS hours
FROM hours
GROUP BY namespace, pod`;

/**
 * Reads the demand on the engines of some namespaces in a window, by {@link podKey}. Pods without a page, and pages without the use of a
 * key-value cache, are absent. Fails with a `StoreError`.
 */
export async function readEngineDemand(
  store: StoreClient,
  cluster: string,
  { from, until }: Window,
  namespaces: readonly string[],
): Promise<ReadonlyMap<string, EngineDemand>> {
  const rows = await store.query<{
    readonly namespace: string;
    readonly pod: string;
    readonly limit: number;
    readonly hours: readonly (readonly [hour: number, ppm: number, running: number])[];
  }>(DEMAND, { cluster, from: from / 1000, until: until / 1000, namespaces: [...namespaces] });
  return new Map(
    rows.map(({ namespace, pod, limit, hours }) => [
      podKey(namespace, pod),
      { limit, hours: new Map(hours.map(([hour, ppm, running]) => [hour, { ppm, running }])) },
    ]),
  );
}
