import { DAY_MILLIS, hourOf } from "../../domain/time.ts";
import type { TensorTime } from "../../domain/training/efficiency.ts";
import type { Run } from "../../domain/training/identity.ts";
import type { DeviceHour } from "../../domain/training/stragglers.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";

type Store = Pick<StoreClient, "query">;

/** The last part of a run whose samples are read for stragglers. */
export const SPEED_MILLIS = 7 * DAY_MILLIS;

const OF_RUN = `cluster = {cluster:String} AND node IN {nodes:Array(String)}
  AND holder_namespace = {namespace:String} AND holder_pod IN {pods:Array(String)}`;

const TENSOR = `
SELECT toString(sum(tensor_ms)) AS coveredMillis, toString(intDiv(sum(tensor_ppm_ms), 1000000)) AS busyMillis
FROM gpu_hours_published
WHERE ${OF_RUN} AND NOT shared AND bucket >= ${momentSql("from")} AND bucket < ${momentSql("until")}`;

/** SQL for the mean clock and activity of whole GPUs in hours in which they were active. */
const SPEED = `
SELECT toFloat64(toUnixTimestamp(toStartOfHour(scraped_at, 'UTC'))) * 1000 AS hour, node, gpu, any(holder_pod) AS pod,
  toFloat64(avg(sm_clock_hertz)) AS clock, toFloat64(avg(activity_ppm)) / 1e6 AS activity
FROM gpu_samples
WHERE ${OF_RUN} AND scraped_at >= ${momentSql("from")} AND scraped_at < ${momentSql("until")}
  AND instance = '' AND holders = 1 AND NOT repeats_device AND activity_ppm > 0
GROUP BY node, gpu, hour
ORDER BY hour, node, gpu`;

/** Reads the tensor activity of a run's GPUs; undefined if its exporters have none. Fails with a `StoreError`. */
export async function readTensorTime(store: Store, run: Run, now: number): Promise<TensorTime | undefined> {
  const [row] = await store.query<{ coveredMillis: string; busyMillis: string }>(TENSOR, {
    ...placeOf(run),
    from: hourOf(run.begun),
    until: Math.min(run.ended, now),
  });
  const coveredMillis = BigInt(row?.coveredMillis ?? 0);
  return coveredMillis === 0n ? undefined : { coveredMillis, busyMillis: BigInt(row!.busyMillis) };
}

/** Returns the last part of a run, whose stragglers and collectives are read: milliseconds since the epoch. */
export function latelyOf({ begun, ended }: Run, now: number): { readonly from: number; readonly until: number } {
  const until = Math.min(ended, now);
  return { from: Math.max(begun, until - SPEED_MILLIS), until };
}

/** Reads the speed of a run's devices hour by hour, over its last seven days. Fails with a `StoreError`. */
export async function readDeviceHours(store: Store, run: Run, now: number): Promise<readonly DeviceHour[]> {
  const rows = await store.query<Omit<DeviceHour, "clock" | "activity"> & Nullable<"clock" | "activity">>(SPEED, {
    ...placeOf(run),
    ...latelyOf(run, now),
  });
  return rows.map(({ clock, activity, ...row }) => ({
    ...row,
    clock: clock ?? undefined,
    activity: activity ?? undefined,
  }));
}

type Nullable<Names extends string> = Readonly<Record<Names, number | null>>;

function placeOf({ cluster, namespace, pods }: Run): object {
  return {
    cluster,
    namespace,
    nodes: [...new Set(pods.map(({ node }) => node))],
    pods: [...new Set(pods.map(({ name }) => name))],
  };
}
