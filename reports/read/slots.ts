import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";

/** The slot of a GPU: a node and an index on it. */
export interface Slot {
  readonly node: string;
  readonly slot: number;
}

/**
 * Reads the slots in which a device was metered over a time, the last one first. The device is given by its UUID or its substitute. Fails
 * with a `StoreError`.
 */
export async function readSlots(
  store: Pick<StoreClient, "query">,
  of: { readonly cluster: string; readonly gpuKey: string; readonly from: number; readonly until: number },
): Promise<readonly Slot[]> {
  const { cluster, gpuKey, from, until } = of;
  return store.query<Slot>(
    `SELECT node, toUInt32(slot) AS slot FROM usage_hours_published
     WHERE cluster = {cluster:String} AND gpu_key = {gpuKey:String}
       AND from_at >= ${momentSql("from")} AND from_at < ${momentSql("until")}
     GROUP BY node, slot ORDER BY max(from_at) DESC, node, slot`,
    { cluster, gpuKey, from, until },
  );
}
