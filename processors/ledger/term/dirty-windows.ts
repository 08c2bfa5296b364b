import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";
import { HOURS_TOUCHED_SQL } from "../runs/window.ts";
import { keyOf, type WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { SCRAPE_KEY_SQL } from "../rollup/rollups.ts";
import { SERVING_SCRAPE_KEY_SQL } from "../serving/meter-serving.ts";
import type { Watermark } from "../runs/runs.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** The end of each partition of a topic: the position of its next message. */
export type PartitionEnds = ReadonlyMap<number, number>;

/**
 * A tracker of the windows whose input has changed. It uses the bus positions of scrapes, never their clock.
 *
 * The first look counts the scrapes of every kept window and compares them with the count of its published run. Every later look reads only
 * rows at or beyond the watermark. The watermark follows the newest position at a distance of `overlapMillis`, because rows become visible
 * out of order: the parts of one insert one after the other, and after a crash with the retry. Within the overlap, windows are compared by
 * their count, so that unchanged windows are not computed again.
 */
export interface DirtyWindows {
  /** Returns the windows that have changed since the last look. The first look compares with their last published run. */
  look(): Promise<readonly WindowOfCluster[]>;
  /** The positions below which everything was read. */
  readonly watermark: Watermark;
  /**
   * The scrape time that every partition has passed, milliseconds since the epoch: the newest scrape of each partition, or now if all of
   * its messages are stored. `undefined` before the first look.
   */
  readonly passedMillis: number | undefined;
}

interface NewestScrape {
  readonly position: number;
  readonly scrapedAt: number;
}

/** The table of scrapes that a tracker follows, and the kind of the runs that count them. */
export interface TrackedScrapes {
  readonly table: "scrapes" | "serving_scrapes";
  readonly kind: "rollup" | "serving";
  /** The identity of a scrape as SQL. */
  readonly key: string;
}

/** The scrapes of GPUs, which rollups count. */
export const SAMPLE_WINDOWS: TrackedScrapes = { table: "scrapes", kind: "rollup", key: SCRAPE_KEY_SQL };

/** The scrapes of engines and gateways, which runs of serving count. */
export const SERVING_WINDOWS: TrackedScrapes = {
  table: "serving_scrapes",
  kind: "serving",
  key: SERVING_SCRAPE_KEY_SQL,
};

/** Creates a tracker. */
export function createDirtyWindows(
  options: TrackedScrapes & {
    readonly store: StoreClient;
    readonly ends: () => Promise<PartitionEnds>;
    readonly now: () => number;
    readonly overlapMillis: number;
  },
): DirtyWindows {
  const { table, kind, key, store, ends, now, overlapMillis } = options;
  const newestOf = new Map<number, NewestScrape>();
  let watermark: Watermark | undefined;
  let following: { readonly at: number; readonly positions: Watermark } | undefined;
  let counts = new Map<string, number>();
  let passedMillis: number | undefined;

  async function look(): Promise<readonly WindowOfCluster[]> {
    const [at, end] = [now(), await ends()];
    const first = watermark === undefined;
    const from = within(watermark ?? (await publishedWatermark(store, kind)), end);
    const moves = following !== undefined && at - following.at >= overlapMillis;
    const to = within(moves ? following!.positions : from, end);
    const changed = first ? await lookAtAll(from) : await lookBeyond(from, to);
    const positions = new Map(
      [...end].map(([partition, limit]) => [partition, Math.min(limit, newestOf.get(partition)?.position ?? 0)]),
    );
    watermark = to;
    if (moves || following === undefined) following = { at, positions };
    passedMillis = passed(end, at);
    return changed;
  }

  async function lookAtAll(from: Watermark): Promise<readonly WindowOfCluster[]> {
    keepNewest(await store.query<NewestRow>(`SELECT partition, ${NEWEST} FROM ${table} GROUP BY partition`));
    const published = await publishedScrapes(store, kind);
    const rows = await store.query<CountRow & { readonly scrapes: string }>(`
      SELECT cluster, arrayJoin(${HOURS_TOUCHED_SQL}) AS hour, uniqExact(${key}) AS scrapes,
        uniqExactIf((partition, position), ${beyond(from)}) AS recent
      FROM ${table} GROUP BY cluster, hour`);
    counts = new Map(rows.map((row) => [keyOf(windowOf(row)), Number(row.recent)]));
    // A window with fewer scrapes than its run counted has lost raw rows by age. Its rollups stay.
    return rows
      .map((row) => ({ ...windowOf(row), scrapes: Number(row.scrapes) }))
      .filter((window) => window.scrapes > (published.get(keyOf(window)) ?? 0));
  }

  async function lookBeyond(from: Watermark, to: Watermark): Promise<readonly WindowOfCluster[]> {
    const rows = await store.query<NewestRow & CountRow & { readonly seen: string }>(`
      SELECT partition, ${NEWEST}, cluster, arrayJoin(${HOURS_TOUCHED_SQL}) AS hour, uniqExact(position) AS seen,
        uniqExactIf(position, ${beyond(to)}) AS recent
      FROM ${table} WHERE ${beyond(from)} GROUP BY partition, cluster, hour`);
    keepNewest(rows);
    const windows = new Map<string, { readonly window: WindowOfCluster; seen: number; recent: number }>();
    for (const row of rows) {
      const window = windowOf(row);
      const sum = windows.get(keyOf(window)) ?? { window, seen: 0, recent: 0 };
      windows.set(keyOf(window), sum);
      sum.seen += Number(row.seen);
      sum.recent += Number(row.recent);
    }
    const changed = [...windows].filter(([key, { seen }]) => seen > (counts.get(key) ?? 0));
    counts = new Map([...windows].map(([key, { recent }]) => [key, recent]));
    return changed.map(([, { window }]) => window);
  }

  /** Adopts the newest position and time that a look found for each partition. */
  function keepNewest(rows: readonly NewestRow[]): void {
    const found = new Map<number, NewestScrape>();
    for (const { partition, after, newest } of rows) {
      const { position, scrapedAt } = found.get(partition) ?? { position: 0, scrapedAt: 0 };
      found.set(partition, {
        position: Math.max(position, Number(after)),
        scrapedAt: Math.max(scrapedAt, Number(newest)),
      });
    }
    for (const [partition, newest] of found) newestOf.set(partition, newest);
  }

  function passed(end: PartitionEnds, at: number): number | undefined {
    const times = [...end].map(([partition, limit]) => {
      const newest = newestOf.get(partition);
      if ((newest?.position ?? 0) >= limit) return at;
      return newest === undefined ? undefined : Math.min(at, newest.scrapedAt);
    });
    return times.some((time) => time === undefined) ? undefined : Math.min(at, ...times.map((time) => time!));
  }

  return {
    look,
    get watermark() {
      return watermark ?? new Map();
    },
    get passedMillis() {
      return passedMillis;
    },
  };
}

/**
 * Returns the end of the last settled hour: every partition has passed it by `delayMillis`, so new data for it is late. `undefined` while
 * unknown.
 */
export function settledUntil(passedMillis: number | undefined, delayMillis: number): number | undefined {
  return passedMillis === undefined ? undefined : Math.floor((passedMillis - delayMillis) / HOUR_MILLIS) * HOUR_MILLIS;
}

const NEWEST = "max(position) + 1 AS after, max(toUnixTimestamp64Milli(scraped_at)) AS newest";

interface NewestRow {
  readonly partition: number;
  readonly after: string;
  readonly newest: string;
}

interface CountRow {
  readonly cluster: string;
  readonly hour: string;
  readonly recent: string;
}

function windowOf({ cluster, hour }: CountRow): WindowOfCluster {
  return { cluster, windowStart: Number(hour) * HOUR_MILLIS };
}

/** Returns a watermark for each existing partition, limited to its end, because a re-created bus begins at 0 again. */
function within(watermark: Watermark, ends: PartitionEnds): Watermark {
  return new Map([...ends].map(([partition, end]) => [partition, Math.min(end, watermark.get(partition) ?? 0)]));
}

/** Returns the SQL condition for rows at or beyond a watermark. Its form allows the use of the index over positions. */
function beyond(watermark: Watermark): string {
  const terms = [...watermark].map(([partition, position]) => `(partition = ${partition} AND position >= ${position})`);
  return terms.length === 0 ? "false" : `(${terms.join(" OR ")})`;
}

async function publishedWatermark(store: StoreClient, kind: TrackedScrapes["kind"]): Promise<Watermark> {
  const rows = await store.query<{ partition: number; position: string }>(`
    SELECT each.1 AS partition, max(each.2) AS position
    FROM (SELECT arrayJoin(CAST(watermark, 'Array(Tuple(UInt32, UInt64))')) AS each FROM runs WHERE kind = '${kind}')
    GROUP BY partition`);
  return new Map(rows.map(({ partition, position }) => [partition, Number(position)]));
}

async function publishedScrapes(
  store: StoreClient,
  kind: TrackedScrapes["kind"],
): Promise<ReadonlyMap<string, number>> {
  const rows = await store.query<{ cluster: string; start: string; counted: string }>(`
    SELECT cluster, toInt64(toUnixTimestamp(window_start)) AS start,
      ${ofLastRun("scrapes")} AS counted
    FROM runs WHERE kind = '${kind}' GROUP BY cluster, start`);
  return new Map(
    rows.map(({ cluster, start, counted }) => [keyOf({ cluster, windowStart: Number(start) * 1000 }), Number(counted)]),
  );
}
