import type { Scrape } from "../../domain/scrape.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { SCRAPE_COLUMNS, type ScrapeRow } from "../../runtime/store/schema/scrapes.ts";
import { createBlocks, namesOf } from "../../runtime/store/schema/table.ts";
import { createSampleColumns, type SampleBlock } from "./sample-columns.ts";
import type { JoinedScrape } from "./steps/join.ts";

/** A message's place on the bus. */
export interface BusPlace {
  readonly partition: number;
  readonly offset: number;
}

/** Rows of scrapes, for an insert, in blocks of the Native format. */
export interface ScrapeRows {
  /** Of `gpu_samples`; undefined where there are none. */
  readonly samples: SampleBlock | undefined;
  /** Of `scrapes`. */
  readonly scrapes: readonly Uint8Array[];
}

/**
 * Writes scrapes as rows of `gpu_samples` and `scrapes`. What stays the same from scrape to scrape is
 * remembered as long as the joined holders live: keep the writer from insert to insert.
 */
export interface ScrapeRowWriter {
  /** Appends the rows of a scrape and returns how many rows of `gpu_samples` they are. */
  append(joined: JoinedScrape, place: BusPlace): number;
  /** The rows appended since the last call. */
  take(): ScrapeRows;
}

/** A writer with nothing in it. */
export function createScrapeRowWriter(): ScrapeRowWriter {
  const samples = createSampleColumns();
  const scrapes = createBlocks<ScrapeRow>(SCRAPE_COLUMNS);
  let rows = 0;
  return {
    append(joined, place) {
      scrapes.write(scrapeRow(joined.scrape, place));
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
 * Inserts rows: the samples first, then the scrapes, so that a scrape that is there has its samples. A replay's rows stand twice until a merge.
 * Fails with a `StoreError`.
 */
export async function insertRows(store: StoreClient, { samples, scrapes }: ScrapeRows): Promise<void> {
  if (samples !== undefined) await store.insertRows("gpu_samples", samples.columns, samples.bytes, { unmerged: true });
  if (scrapes.length > 0) await store.insertRows("scrapes", namesOf(SCRAPE_COLUMNS), scrapes, { unmerged: true });
}

function scrapeRow(scrape: Scrape, place: BusPlace): ScrapeRow {
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
    partition: place.partition,
    position: place.offset,
  };
}
