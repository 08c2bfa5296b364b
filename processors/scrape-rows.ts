import type { Scrape } from "../domain/scrape.ts";
import { createRowBinaryWriter, type RowBinaryWriter } from "../runtime/store/row-binary.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { createSampleColumns, type SampleBlock } from "./sample-columns.ts";
import type { JoinedScrape } from "./steps/join.ts";

/** A message's place on the bus. */
export interface BusPlace {
  readonly partition: number;
  readonly offset: number;
}

/** The columns of an insert into `scrapes`, in the order in which rows are written. */
export const SCRAPE_COLUMNS: readonly string[] = [
  "cluster",
  "node",
  "target",
  "collector",
  "scraped_at",
  "epoch",
  "sequence",
  "interval_ms",
  "duration_us",
  "exporter",
  "devices",
  "failure",
  "failure_detail",
  "dropped",
  "partition",
  "position",
];

/** Rows of scrapes, for an insert. */
export interface ScrapeRows {
  /** Of `gpu_samples`, in Native; undefined where there are none. */
  readonly samples: SampleBlock | undefined;
  /** Of `scrapes`, in RowBinary. */
  readonly scrapes: Uint8Array;
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
  const scrapes = createRowBinaryWriter();
  let rows = 0;
  return {
    append(joined, place) {
      writeScrape(scrapes, joined.scrape, place);
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
  if (samples !== undefined)
    await store.insertRows("gpu_samples", samples.columns, samples.bytes, { format: "Native", unmerged: true });
  if (scrapes.length > 0) await store.insertRows("scrapes", SCRAPE_COLUMNS, scrapes, { unmerged: true });
}

function writeScrape(writer: RowBinaryWriter, scrape: Scrape, place: BusPlace): void {
  writer.string(scrape.cluster);
  writer.string(scrape.node);
  writer.string(scrape.target);
  writer.string(scrape.collector);
  writer.int64(scrape.scrapedAtMillis);
  writer.int64(scrape.epoch);
  writer.int64(scrape.sequence);
  writer.uint32(scrape.intervalMillis);
  writer.uint32(scrape.durationMicros);
  writer.string(scrape.shape.exporter);
  writer.uint32(scrape.shape.devices.length);
  writer.string(scrape.failure?.reason ?? "");
  writer.string(scrape.failure?.detail ?? "");
  writer.map(Object.entries(scrape.dropped), (count) => writer.uint32(count));
  writer.uint32(place.partition);
  writer.int64(place.offset);
}
