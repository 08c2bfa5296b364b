import { SCRAPE_SCHEMA_VERSION } from "../domain/messages/scrape-message.ts";
import { BACKFILL_HEADER, PROCESSOR_GROUP, SAMPLES_TOPIC } from "../domain/messages/topics.ts";
import type { Bus } from "../runtime/bus/bus.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { insertScrapes, rowsOf } from "./batch.ts";
import { startIntake, type Intake, type IntakeEvents } from "./intake.ts";
import { createSamplePipeline } from "./pipeline.ts";
import { createScrapeRowWriter } from "./scrape-rows.ts";

/** What happens in a processor, for its metrics and its log. */
export interface ProcessorEvents extends Omit<IntakeEvents<never>, "onStored"> {
  onStored(stored: { readonly scrapes: number; readonly rows: number; readonly seconds: number }): void;
  /** How old a scrape was when it could be asked for; not told of what was sent afterwards about the past. */
  onFresh(seconds: number): void;
  /** A stored message whose scrape is traced. */
  onTraced(traceparent: string, takenAtMillis: number, storedAtMillis: number): void;
}

/** A running processor. */
export type Processor = Intake;

/** Joins the group of processors and stores what comes, until it is stopped. */
export function startProcessor(options: {
  readonly bus: Bus;
  readonly store: StoreClient;
  readonly flushMillis: number;
  readonly flushRows: number;
  readonly events: ProcessorEvents;
  readonly now: () => number;
}): Promise<Processor> {
  const { bus, store, flushMillis, flushRows, events, now } = options;
  const writer = createScrapeRowWriter();

  return startIntake({
    bus,
    group: PROCESSOR_GROUP,
    topics: [SAMPLES_TOPIC],
    schemaVersion: SCRAPE_SCHEMA_VERSION,
    pipeline: createSamplePipeline(),
    rowsOf,
    insert: (items) => insertScrapes(store, writer, items),
    flushMillis,
    flushRows,
    now,
    events: {
      ...events,
      onStored(items, seconds) {
        const rows = items.reduce((sum, { value }) => sum + rowsOf(value), 0);
        events.onStored({ scrapes: items.length, rows, seconds });
        const storedAtMillis = now();
        for (const { value, message, takenAtMillis } of items) {
          const isBackfill = message.headers[BACKFILL_HEADER] !== undefined;
          if (!isBackfill) events.onFresh((storedAtMillis - value.scrape.scrapedAtMillis) / 1000);
          const traceparent = message.headers["traceparent"];
          if (traceparent !== undefined) events.onTraced(traceparent, takenAtMillis, storedAtMillis);
        }
      },
    },
  });
}
