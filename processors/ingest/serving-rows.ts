import { SERVING_METRIC_BY_NAME } from "../../domain/serving/metric.ts";
import type { ServingScrape } from "../../domain/serving/scrape.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import {
  SERVING_SAMPLE_COLUMNS,
  SERVING_SCRAPE_COLUMNS,
  type ServingScrapeRow,
  type ServingSeriesRow,
} from "../../runtime/store/schema/serving.ts";
import { createBlocks, namesOf } from "../../runtime/store/schema/table.ts";
import type { BusPosition } from "./scrape-rows.ts";

/** A row of `serving_samples`. Values are whole numbers by the name of their metric. */
type ServingSampleRow = ServingSeriesRow & { readonly values: Readonly<Record<string, number>> };

/** A writer of scrapes as rows of `serving_samples` and `serving_scrapes`. Keep one for all inserts, because it reuses its columns. */
export interface ServingRowWriter {
  append(scrape: ServingScrape, position: BusPosition): void;
  /** Returns the rows appended since the last call, in blocks of the Native format. */
  take(): ServingRows;
}

/** Rows of scrapes for an insert. */
export interface ServingRows {
  readonly samples: readonly Uint8Array[];
  readonly scrapes: readonly Uint8Array[];
}

/** Creates an empty writer. */
export function createServingRowWriter(): ServingRowWriter {
  const samples = createBlocks<ServingSampleRow>(SERVING_SAMPLE_COLUMNS);
  const scrapes = createBlocks<ServingScrapeRow>(SERVING_SCRAPE_COLUMNS);
  return {
    append(scrape, position) {
      scrapes.write(scrapeRow(scrape, position));
      for (let row = 0; row < scrape.shape.series.length; row++) samples.write(sampleRow(scrape, row));
    },
    take: () => ({ samples: samples.take(), scrapes: scrapes.take() }),
  };
}

/**
 * Inserts rows: the samples first, then the scrapes, so that a visible scrape has its samples. The rows of a replay exist twice until a
 * merge. Fails with a `StoreError`.
 */
export async function insertServingRows(store: StoreClient, { samples, scrapes }: ServingRows): Promise<void> {
  const unmerged = { unmerged: true };
  if (samples.length > 0) await store.insertRows("serving_samples", namesOf(SERVING_SAMPLE_COLUMNS), samples, unmerged);
  if (scrapes.length > 0) await store.insertRows("serving_scrapes", namesOf(SERVING_SCRAPE_COLUMNS), scrapes, unmerged);
}

function podRow({ cluster, node, namespace, pod, podUid, target, scrapedAtMillis, intervalMillis }: ServingScrape) {
  return {
    cluster,
    node,
    namespace,
    pod,
    pod_uid: podUid,
    target,
    scraped_at: scrapedAtMillis,
    interval_ms: intervalMillis,
  };
}

function scrapeRow(scrape: ServingScrape, { partition, offset }: BusPosition): ServingScrapeRow {
  const { collector, epoch, sequence, durationMicros, failure, dropped, shape } = scrape;
  return {
    ...podRow(scrape),
    collector,
    epoch,
    sequence,
    duration_us: durationMicros,
    exporter: shape.exporter,
    series: shape.series.length,
    failure: failure?.reason ?? "",
    failure_detail: failure?.detail ?? "",
    dropped,
    partition,
    position: offset,
  };
}

function sampleRow(scrape: ServingScrape, row: number): ServingSampleRow {
  const { shape, values } = scrape;
  const { exporter, kind, model, adapter = "", part = "", tenant = "" } = shape.series[row]!;
  return {
    ...podRow(scrape),
    exporter,
    kind,
    model,
    adapter,
    part,
    tenant,
    values: wholeValues(shape.columns, values, row * shape.columns.length),
  };
}

/** Returns the values of a row as whole numbers. A later release may have columns that this one does not store. */
function wholeValues(columns: readonly string[], values: Float64Array, from: number): Readonly<Record<string, number>> {
  const whole: Record<string, number> = {};
  for (const [index, column] of columns.entries()) {
    const value = Math.round(values[from + index]!);
    // The collector keeps values within these bounds. Any other value on the bus must not fail the batch.
    if (value >= 0 && value <= Number.MAX_SAFE_INTEGER && SERVING_METRIC_BY_NAME.has(column)) whole[column] = value;
  }
  return whole;
}
