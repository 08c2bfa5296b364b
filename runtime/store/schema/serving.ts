import { SERVING_METRICS } from "../../../domain/serving/metric.ts";
import { columnsOf, type Column, type RowOf } from "./table.ts";
import { counts, longText, manyTexts, moment, nullableUint64, text, uint32, uint64 } from "./types.ts";

const OF_POD = {
  cluster: text,
  node: text,
  namespace: text,
  pod: manyTexts,
  pod_uid: manyTexts,
  target: text,
  scraped_at: moment,
  interval_ms: uint32,
};

const SCRAPES = {
  ...OF_POD,
  collector: text,
  epoch: moment,
  sequence: uint64,
  duration_us: uint32,
  exporter: text,
  series: uint32,
  failure: text,
  failure_detail: longText,
  dropped: counts,
  partition: uint32,
  position: uint64,
};

/** A row of `serving_scrapes`: an attempt of a collector to read the page of an engine or a gateway. */
export type ServingScrapeRow = RowOf<typeof SCRAPES>;

/** The columns of `serving_scrapes`. */
export const SERVING_SCRAPE_COLUMNS = columnsOf(SCRAPES);

const SERIES = { ...OF_POD, exporter: text, kind: text, model: text, adapter: text, part: text, tenant: manyTexts };

/** A row of `serving_samples` without its metrics: one model, part or tenant of a page in one scrape. */
export type ServingSeriesRow = RowOf<typeof SERIES>;

/** The columns of `serving_samples`. Metrics are NULL if the page does not have them. */
export const SERVING_SAMPLE_COLUMNS: readonly Column[] = [
  ...columnsOf(SERIES),
  ...SERVING_METRICS.map(({ name }) => ({ name, type: nullableUint64, path: `values.${name}` })),
];
