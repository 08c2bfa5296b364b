import { SAMPLES_TOPIC } from "../../../domain/messages/topics.ts";
import { IMPORT_COLLECTOR } from "../../../domain/scrape.ts";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../../domain/time.ts";
import type { Bus } from "../../../runtime/bus/bus.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import type { Span } from "../read/samples.ts";
import { IMPORT_EPOCH } from "../origin.ts";

/** The minutes in which collectors scraped a node. An import leaves these minutes to the collectors. */
export interface CollectedMinutes {
  has(node: string, atMillis: number): boolean;
}

const MINUTES = `
SELECT node, toFloat64(toUnixTimestamp(toStartOfHour(scraped_at))) * 1000 AS hour,
  toString(groupBitOr(bitShiftLeft(toUInt64(1), toMinute(scraped_at)))) AS minutes
FROM scrapes
WHERE cluster = {cluster:String} AND collector != {importer:String} AND failure = ''
  AND scraped_at >= fromUnixTimestamp64Milli({from:Int64}) AND scraped_at < fromUnixTimestamp64Milli({until:Int64})
GROUP BY node, hour`;

/** Reads the minutes of a span in which collectors scraped the nodes of a cluster. Fails with a `StoreError`. */
export async function readCollectedMinutes(store: StoreClient, cluster: string, span: Span): Promise<CollectedMinutes> {
  const rows = await store.query<{ node: string; hour: number; minutes: string }>(MINUTES, {
    cluster,
    importer: IMPORT_COLLECTOR,
    from: span.fromMillis,
    until: span.untilMillis,
  });
  const minutesOf = new Map(rows.map(({ node, hour, minutes }) => [`${hour} ${node}`, BigInt(minutes)]));
  return {
    has(node, atMillis) {
      const hour = Math.floor(atMillis / HOUR_MILLIS) * HOUR_MILLIS;
      const minutes = minutesOf.get(`${hour} ${node}`);
      return minutes !== undefined && ((minutes >> BigInt(Math.floor((atMillis - hour) / MINUTE_MILLIS))) & 1n) === 1n;
    },
  };
}

const WATCHED_SINCE = `
SELECT toFloat64(toUnixTimestamp64Milli(min(seen_at))) AS since, count() AS facts
FROM inventory_facts WHERE cluster = {cluster:String} AND epoch > {imported:UInt64}`;

/** Returns since when a watcher of Kubernetes has followed a cluster; Infinity if none has. Fails with a `StoreError`. */
export async function readWatchedSince(store: StoreClient, cluster: string): Promise<number> {
  const [row] = await store.query<{ since: number; facts: string }>(WATCHED_SINCE, { cluster, imported: IMPORT_EPOCH });
  return row === undefined || Number(row.facts) === 0 ? Infinity : row.since;
}

const STORED = `SELECT partition, toFloat64(max(position)) AS position FROM scrapes GROUP BY partition`;

/** Returns the number of messages on the bus that processors have not stored yet. Fails with a `StoreError` or a `BusError`. */
export async function readBacklog(store: StoreClient, bus: Pick<Bus, "watermarks">): Promise<number> {
  const rows = await store.query<{ partition: number; position: number }>(STORED, {});
  const stored = new Map(rows.map(({ partition, position }) => [partition, position + 1]));
  return (await bus.watermarks(SAMPLES_TOPIC))
    .map(({ partition, low, high }) => high - Math.max(low, Math.min(high, stored.get(partition) ?? low)))
    .reduce((sum, messages) => sum + messages, 0);
}
