import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";

/** The measurements of a device at a time. */
export interface MeasuredSample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** 0..1; null if the sample has no activity. */
  readonly activityRatio: number | null;
  readonly powerWatts: number | null;
  /** The holder of the device in the joined sample; empty if there was none. */
  readonly holder: string;
}

/** The limit of samples in a chart: an hour with one in each second. */
const MOST = 3_600;

/**
 * Reads the samples of a device over a time, oldest first. For a shared device, reads those of the pod if the exporter separates pods.
 * `pod` leaves only samples of the time in which that pod had the device alone or had its own values. Empty when raw rows have expired.
 * Fails with a `StoreError`.
 */
export async function readSamples(
  store: Pick<StoreClient, "query">,
  of: {
    readonly cluster: string;
    readonly node: string;
    readonly gpuKey: string;
    readonly from: number;
    readonly until: number;
    readonly pod?: { readonly namespace: string; readonly name: string };
  },
): Promise<readonly MeasuredSample[]> {
  const { cluster, node, gpuKey, from, until, pod } = of;
  const ofPod =
    pod === undefined
      ? ""
      : `AND holder_namespace = {namespace:String} AND holder_pod = {name:String}
         AND (holders = 1 OR process_activity_ppm IS NOT NULL)`;
  return store.query<MeasuredSample>(
    `SELECT toFloat64(toUnixTimestamp64Milli(scraped_at)) AS at,
       toFloat64(coalesce(process_activity_ppm, activity_ppm)) / 1e6 AS activityRatio, toFloat64(power_watts) AS powerWatts,
       if(holder_pod = '', '', concat(holder_namespace, '/', holder_pod)) AS holder
     FROM gpu_samples
     WHERE cluster = {cluster:String} AND node = {node:String} AND gpu_key = {gpuKey:String}
       AND scraped_at >= ${momentSql("from")} AND scraped_at < ${momentSql("until")} ${ofPod}
     ORDER BY scraped_at LIMIT ${MOST}`,
    { cluster, node, gpuKey, from, until, ...pod },
  );
}
