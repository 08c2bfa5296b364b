import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";

/** The scrapes of a target over a time. */
export interface ScrapedTarget {
  readonly cluster: string;
  readonly node: string;
  readonly target: string;
  readonly scrapes: number;
  readonly failed: number;
  /** The reason of the last failed scrape; empty if none failed. */
  readonly failure: string;
  readonly detail: string;
  /** The time of the last scrape, milliseconds since the epoch. */
  readonly lastAt: number;
  readonly intervalSeconds: number;
}

/** Reads the scrapes of every target over a time, failing targets first. Fails with a `StoreError`. */
export async function readScrapedTargets(
  store: Pick<StoreClient, "query">,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly ScrapedTarget[]> {
  return store.query<ScrapedTarget>(
    `SELECT cluster, node, target, toFloat64(count()) AS scrapes, toFloat64(countIf(wrong != '')) AS failed,
       argMaxIf(wrong, at, wrong != '') AS failure, argMaxIf(wrong_detail, at, wrong != '') AS detail,
       toFloat64(toUnixTimestamp64Milli(max(at))) AS lastAt, toFloat64(max(interval_ms)) / 1000 AS intervalSeconds
     FROM (
       SELECT cluster, node, target, scraped_at AS at, failure AS wrong, failure_detail AS wrong_detail, interval_ms
       FROM scrapes FINAL WHERE scraped_at >= ${momentSql("from")} AND scraped_at < ${momentSql("until")})
     GROUP BY cluster, node, target ORDER BY failed DESC, lastAt, cluster, node, target`,
    { from, until },
  );
}
