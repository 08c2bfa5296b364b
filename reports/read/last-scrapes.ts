import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";

/** The last sample of a node's GPUs. */
export interface LastScrape {
  readonly cluster: string;
  readonly node: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Reads when each node had its last sample in a time. Nodes without one are left out. Fails with a `StoreError`. */
export async function readLastScrapes(
  store: Pick<StoreClient, "query">,
  time: { readonly from: number; readonly until: number },
): Promise<readonly LastScrape[]> {
  return store.query<LastScrape>(
    `SELECT cluster, node, toFloat64(toUnixTimestamp64Milli(max(scraped_at))) AS at FROM gpu_samples
     WHERE scraped_at >= ${momentSql("from")} AND scraped_at < ${momentSql("until")} GROUP BY cluster, node`,
    time,
  );
}
