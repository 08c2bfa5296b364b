import { columnsOf, type RowOf } from "./table.ts";
import { counts, longText, moment, text, uint32, uint64 } from "./types.ts";

const SCRAPES = {
  cluster: text,
  node: text,
  target: text,
  collector: text,
  scraped_at: moment,
  epoch: moment,
  sequence: uint64,
  interval_ms: uint32,
  duration_us: uint32,
  exporter: text,
  devices: uint32,
  failure: text,
  failure_detail: longText,
  dropped: counts,
  partition: uint32,
  position: uint64,
};

/** A row of `scrapes`: an attempt of a collector, and the bus position of its message. */
export type ScrapeRow = RowOf<typeof SCRAPES>;

/** The columns of `scrapes`. */
export const SCRAPE_COLUMNS = columnsOf(SCRAPES);
