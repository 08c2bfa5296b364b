import type { DeviceStats, Window } from "../../../domain/advice/evidence.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";

/** The five-minute rollups of devices that one pod held alone. */
const ALONE = `
FROM gpu_5m_published
WHERE cluster = {cluster:String} AND holder_pod != '' AND activity_ms > 0
  AND bucket >= fromUnixTimestamp({from:Int64}) AND bucket < fromUnixTimestamp({until:Int64})`;

const MEAN = "intDiv(activity_ppm_ms, activity_ms)";

/** A percentile is a value of an interval, so it does not depend on the order of the rows. */
const p95Of = (measure: string): string =>
  `if(countIf(${measure}_ms > 0) = 0, -1, toFloat64(quantileExactIf(0.95)(intDivOrZero(${measure}_ppm_ms, ${measure}_ms), ${measure}_ms > 0)))`;

const STATS = `
SELECT toString(node) AS node, gpu_key, toString(instance) AS instance, toString(holder_namespace) AS namespace, toString(holder_pod) AS pod,
  toFloat64(count()) AS intervals, toFloat64(intDiv(sum(activity_ppm_ms), sum(activity_ms))) AS mean,
  arrayMap(each -> toFloat64(each), quantilesExact(0.5, 0.95, 0.98, 0.99)(${MEAN})) AS percentiles,
  toFloat64(quantileExact(0.98)(ifNull(activity_max_ppm, 0))) AS peak98, toFloat64(max(ifNull(activity_max_ppm, 0))) AS max,
  ${p95Of("sm")} AS sm95, ${p95Of("tensor")} AS tensor95, ${p95Of("dram")} AS dram95,
  toFloat64(intDiv(max(ifNull(fb_used_max_bytes, 0)), 1048576)) AS memoryPeakMiB,
  toFloat64(intDiv(max(ifNull(fb_total_max_bytes, 0)), 1048576)) AS memoryTotalMiB
${ALONE}
GROUP BY node, gpu_key, instance, namespace, pod`;

interface StatsRow {
  readonly node: string;
  readonly gpu_key: string;
  readonly instance: string;
  readonly namespace: string;
  readonly pod: string;
  readonly intervals: number;
  readonly mean: number;
  readonly percentiles: readonly [number, number, number, number];
  readonly peak98: number;
  readonly max: number;
  readonly sm95: number;
  readonly tensor95: number;
  readonly dram95: number;
  readonly memoryPeakMiB: number;
  readonly memoryTotalMiB: number;
}

/** A device while a pod held it. */
export interface HeldDevice {
  readonly node: string;
  readonly gpu: string;
  readonly instance: string;
  readonly namespace: string;
  readonly pod: string;
}

/** Returns the key of a device while a pod held it. */
export function deviceKey({ node, gpu, instance, namespace, pod }: HeldDevice): string {
  return `${node}\n${gpu}\n${instance}\n${namespace}\n${pod}`;
}

/** Reads the statistics of each device of a cluster while a pod held it alone, by {@link deviceKey}. Fails with a `StoreError`. */
export async function readDeviceStats(
  store: StoreClient,
  cluster: string,
  window: Window,
): Promise<ReadonlyMap<string, DeviceStats>> {
  const found = new Map<string, DeviceStats>();
  for (const row of await store.query<StatsRow>(STATS, secondsOf(cluster, window))) {
    const { node, gpu_key, instance, namespace, pod, percentiles, sm95, tensor95, dram95, ...stats } = row;
    const [p50, p95, p98, p99] = percentiles;
    const counters = Object.entries({ sm95, tensor95, dram95 }).filter(([, value]) => value >= 0);
    found.set(deviceKey({ node, gpu: gpu_key, instance, namespace, pod }), {
      ...stats,
      p50,
      p95,
      p98,
      p99,
      ...Object.fromEntries(counters),
    });
  }
  return found;
}

const PEAKS = `
SELECT toString(holder_namespace) AS namespace, toString(holder_pod) AS pod,
  groupArray((intDiv(toUnixTimestamp(toStartOfHour(bucket)) - {from:Int64}, 3600), peak)) AS peaks
FROM (
  SELECT holder_namespace, holder_pod, toStartOfHour(bucket) AS bucket, toFloat64(max(${MEAN})) AS peak
  ${ALONE} AND holder_namespace IN {namespaces:Array(String)}
  GROUP BY holder_namespace, holder_pod, bucket
)
GROUP BY namespace, pod`;

/**
 * Reads the highest activity over five minutes of each pod of some namespaces in each hour of the window, by namespace and pod: parts per
 * million by the hour's number. Fails with a `StoreError`.
 */
export async function readHourPeaks(
  store: StoreClient,
  cluster: string,
  window: Window,
  namespaces: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
  const rows = await store.query<{ namespace: string; pod: string; peaks: readonly (readonly [string, number])[] }>(
    PEAKS,
    { ...secondsOf(cluster, window), namespaces: [...namespaces] },
  );
  return new Map(
    rows.map(({ namespace, pod, peaks }) => [
      podKey(namespace, pod),
      new Map(peaks.map(([hour, peak]) => [Number(hour), peak])),
    ]),
  );
}

/** Returns the key of a pod in a cluster. */
export function podKey(namespace: string, pod: string): string {
  return `${namespace}\n${pod}`;
}

function secondsOf(cluster: string, { from, until }: Window) {
  return { cluster, from: from / 1000, until: until / 1000 };
}
