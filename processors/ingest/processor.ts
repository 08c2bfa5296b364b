import type { Evidence } from "../../domain/holder.ts";
import type { Holdings } from "../../domain/holding.ts";
import { SCRAPE_SCHEMA_VERSION } from "../../domain/messages/scrape-message.ts";
import { BACKFILL_HEADER, PROCESSOR_GROUP, SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { insertScrapes, rowsOf } from "./batch.ts";
import { followFacts, type FactListener, type FollowedFactsEvents } from "./followed-facts.ts";
import { createHoldings } from "./holdings/holdings.ts";
import type { IntakeEvents, Taken } from "./flusher.ts";
import { startIntake, type Intake } from "./intake.ts";
import { createSamplePipeline, type JoinListener } from "./pipeline.ts";
import { createScrapeRowWriter } from "./scrape-rows.ts";
import type { JoinedScrape } from "./steps/join.ts";

/** The events of a processor, for its metrics and its log. */
export interface ProcessorEvents extends Omit<IntakeEvents<never>, "onStored">, FollowedFactsEvents {
  onStored(stored: {
    readonly scrapes: number;
    readonly rows: number;
    readonly seconds: number;
    /** The number of joined device rows for each kind of evidence. */
    readonly joined: ReadonlyMap<Evidence, number>;
  }): void;
  /** The age of a scrape when it became queryable. Not called for backfilled messages. */
  onFresh(seconds: number): void;
  /** A message with a traced scrape was stored. */
  onTraced(traceparent: string, takenAtMillis: number, storedAtMillis: number): void;
}

/** A running processor. */
export interface Processor extends Intake {
  /** The holdings that the processor joins with. */
  readonly holdings: Holdings;
}

/**
 * Joins the group of processors and stores samples until it is stopped. Before that it reads every fact on the bus, so that the first
 * sample is joined with complete data.
 */
export async function startProcessor(options: ProcessorOptions): Promise<Processor> {
  const holdings = createHoldings();
  const facts = await followFacts(options.bus, [holdings, ...(options.listeners ?? [])], options.events);
  let intake: Intake;
  try {
    intake = await startSamples(options, holdings);
  } catch (error) {
    await facts.stop();
    throw error;
  }
  return {
    holdings,
    member: intake.member,
    get waiting() {
      return intake.waiting;
    },
    get paused() {
      return intake.paused;
    },
    get assigned() {
      return intake.assigned;
    },
    async stop() {
      await intake.stop();
      await facts.stop();
    },
  };
}

interface ProcessorOptions {
  readonly bus: Bus;
  readonly store: StoreClient;
  readonly flushMillis: number;
  readonly flushRows: number;
  readonly events: ProcessorEvents;
  /** Listeners that get the same facts as the join. */
  readonly listeners?: readonly FactListener[];
  readonly onJoined?: JoinListener;
  readonly now: () => number;
}

function startSamples(options: ProcessorOptions, holdings: Holdings): Promise<Intake> {
  const { bus, store, flushMillis, flushRows, events, now } = options;
  const writer = createScrapeRowWriter();

  return startIntake({
    bus,
    group: PROCESSOR_GROUP,
    topics: [SAMPLES_TOPIC],
    schemaVersion: SCRAPE_SCHEMA_VERSION,
    pipeline: createSamplePipeline(holdings, options.onJoined),
    rowsOf,
    insert: (items) => insertScrapes(store, writer, items),
    flushMillis,
    flushRows,
    now,
    events: {
      ...events,
      onStored(items, seconds) {
        const rows = items.reduce((sum, { value }) => sum + rowsOf(value), 0);
        events.onStored({ scrapes: items.length, rows, seconds, joined: countEvidence(items) });
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

function countEvidence(items: readonly Taken<JoinedScrape>[]): ReadonlyMap<Evidence, number> {
  const counts = new Map<Evidence, number>();
  for (const { value } of items) {
    for (const { evidence } of value.holders) counts.set(evidence, (counts.get(evidence) ?? 0) + 1);
  }
  return counts;
}
