import type { Scrape } from "../../domain/scrape.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { SCRAPE_COLUMNS, type ScrapeRow } from "../../runtime/store/schema/scrapes.ts";
import { createBlocks, namesOf } from "../../runtime/store/schema/table.ts";
import { createSampleColumns, type SampleBlock } from "./sample-columns.ts";
import type { JoinedScrape } from "./steps/join.ts";

/** A message's position on the bus. */
export interface BusPosition {
  readonly partition: number;
  readonly offset: number;
}

/** Rows of scrapes for an insert, in blocks of the Native format. */
export interface ScrapeRows {
  /** Rows of `gpu_samples`; undefined if there are none. */
  readonly samples: SampleBlock | undefined;
  /** Rows of `scrapes`. */
  readonly scrapes: readonly Uint8Array[];
}

/**
 * A writer of scrapes as rows of `gpu_samples` and `scrapes`. It caches the parts that stay the same between scrapes for the lifetime of
 * the holders arrays, so keep one writer for all inserts.
 */
export interface ScrapeRowWriter {
  /** Appends the rows of a scrape. Returns the number of rows of `gpu_samples`. */
  append(joined: JoinedScrape, position: BusPosition): number;
  /** Returns the rows appended since the last call. */
  take(): ScrapeRows;
}

/** Creates an empty writer. */
export function createScrapeRowWriter(): ScrapeRowWriter {
  const samples = createSampleColumns();
  const scrapes = createBlocks<ScrapeRow>(SCRAPE_COLUMNS);
  let rows = 0;
  return {
    append(joined, position) {
      scrapes.write(scrapeRow(joined.scrape, position));
      const added = samples.append(joined);
      rows += added;
      return added;
    },
    take() {
      const taken = { samples: rows === 0 ? undefined : samples.take(), scrapes: scrapes.take() };
      rows = 0;
      return taken;
    },
  };
}

/**
 * Inserts rows: the samples first, then the scrapes, so that a visible scrape has its samples. The rows of a replay exist twice until a
 * merge. Fails with a `StoreError`.
 */
export async function insertRows(store: StoreClient, { samples, scrapes }: ScrapeRows): Promise<void> {
  if (samples !== undefined) await store.insertRows("gpu_samples", samples.columns, samples.bytes, { unmerged: true });
  if (scrapes.length > 0) await store.insertRows("scrapes", namesOf(SCRAPE_COLUMNS), scrapes, { unmerged: true });
}

function scrapeRow(scrape: Scrape, position: BusPosition): ScrapeRow {
  return {
    cluster: scrape.cluster,
    node: scrape.node,
    target: scrape.target,
    collector: scrape.collector,
    scraped_at: scrape.scrapedAtMillis,
    epoch: scrape.epoch,
    sequence: scrape.sequence,
    interval_ms: scrape.intervalMillis,
    duration_us: scrape.durationMicros,
    exporter: scrape.shape.exporter,
    devices: scrape.shape.devices.length,
    failure: scrape.failure?.reason ?? "",
    failure_detail: scrape.failure?.detail ?? "",
    dropped: scrape.dropped,
    partition: position.partition,
    position: position.offset,
  };
}
