import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";

/** How a target was scraped over a time. */
export interface ScrapedTarget {
  readonly cluster: string;
  readonly node: string;
  readonly target: string;
  readonly scrapes: number;
  readonly failed: number;
  /** Why the last of those that failed did; empty where none did. */
  readonly failure: string;
  readonly detail: string;
  /** Of the last one, milliseconds since the epoch. */
  readonly lastAt: number;
  readonly intervalSeconds: number;
  /** Series and values that were left out of it, whatever the reason. */
  readonly leftOut: number;
}

/** How every target was scraped over a time, those that fail first. Fails with a `StoreError`. */
export async function readScrapedTargets(
  store: Pick<StoreClient, "query">,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly ScrapedTarget[]> {
  return store.query<ScrapedTarget>(
    `SELECT cluster, node, target, toFloat64(count()) AS scrapes, toFloat64(countIf(failure != '')) AS failed,
       argMaxIf(failure, scraped_at, failure != '') AS failure, argMaxIf(failure_detail, scraped_at, failure != '') AS detail,
       toFloat64(toUnixTimestamp64Milli(max(scraped_at))) AS lastAt, toFloat64(max(interval_ms)) / 1000 AS intervalSeconds,
       toFloat64(argMax(arraySum(mapValues(dropped)), scraped_at)) AS leftOut
     FROM (SELECT * FROM scrapes FINAL WHERE scraped_at >= ${momentSql("from")} AND scraped_at < ${momentSql("until")})
     GROUP BY cluster, node, target ORDER BY failed DESC, lastAt, cluster, node, target`,
    { from, until },
  );
}
