import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { encodeScrape, encodeStable, SCRAPE_SCHEMA_VERSION } from "../../domain/messages/scrape-message.ts";
import { SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import type { Device } from "../../domain/device.ts";
import type { OffsetJump, OutgoingMessage } from "../../runtime/bus/bus.ts";
import { openEmbeddedBus } from "../../runtime/bus/embedded/embedded-bus.ts";
import { systemClock } from "../../runtime/clock.ts";
import { topicDeclarations } from "../../runtime/bus/topics.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { startFacts } from "../../processors/ingest/facts.ts";
import type { IntakeEvents } from "../../processors/ingest/flusher.ts";
import type { Intake } from "../../processors/ingest/intake.ts";
import { startProcessor, type Processor, type ProcessorEvents } from "../../processors/ingest/processor.ts";

export const silent = pino({ level: "silent" });

/** An embedded bus with its topics declared, in a folder that is removed with it. */
export async function openTestBus({ samplePartitions = 4 } = {}): Promise<{
  readonly bus: Bus;
  readonly folder: string;
  readonly close: () => Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-bus-"));
  const bus = await openEmbeddedBus({ folder, clock: systemClock, logger: silent });
  await bus.declare(
    topicDeclarations({ kind: "embedded", samplePartitions, retention: 86_400_000, retentionSize: 1e9, spool: 1e9 }),
  );
  return {
    bus,
    folder,
    async close() {
      await bus.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The end of the partitions of facts on a bus, for a test that puts facts into the store without the bus. */
export const FACTS_END = 100_000;

/** A bus whose partitions of facts end there. */
export function withFactsStored(bus: Bus): Bus {
  return {
    ...bus,
    async watermarks(topic) {
      const places = await bus.watermarks(topic);
      return topic === SAMPLES_TOPIC ? places : places.map((place) => ({ ...place, high: FACTS_END }));
    },
  };
}

/** The events of a processor, counted. */
export interface ProcessorLog {
  stored: number;
  rows: number;
  readonly deadLetters: string[];
  readonly retries: unknown[];
  readonly fatal: unknown[];
  readonly jumps: OffsetJump[];
  futures: number;
  readonly passedOver: string[];
}

/** A processor with quick flushes, and a log of its events. */
export async function startTestProcessor(
  bus: Bus,
  store: StoreClient,
  { flushRows = 500 } = {},
): Promise<{ readonly processor: Processor; readonly log: ProcessorLog }> {
  const log = emptyLog();
  const events: ProcessorEvents = {
    ...loggedEvents(log),
    onStored({ scrapes, rows }) {
      log.stored += scrapes;
      log.rows += rows;
    },
    onFresh: () => {},
    onTraced: () => {},
    onPassedOver: (reason) => log.passedOver.push(reason),
  };
  const processor = await startProcessor({ bus, store, flushMillis: 50, flushRows, events, now: Date.now });
  return { processor, log };
}

/** The part that stores facts, with quick flushes, and a log of its events. */
export async function startTestFacts(
  bus: Bus,
  store: StoreClient,
): Promise<{ readonly facts: Intake; readonly log: ProcessorLog }> {
  const log = emptyLog();
  const events = { ...loggedEvents(log), onStored: (items: readonly unknown[]) => (log.stored += items.length) };
  return { facts: await startFacts({ bus, store, flushMillis: 50, flushRows: 500, events, now: Date.now }), log };
}

/** An empty log. */
export function emptyLog(): ProcessorLog {
  return {
    stored: 0,
    rows: 0,
    deadLetters: [],
    retries: [],
    fatal: [],
    jumps: [],
    futures: 0,
    passedOver: [],
  };
}

/** The events of an intake except `onStored`, written into a log. */
export function loggedEvents(log: ProcessorLog): Omit<IntakeEvents<never>, "onStored"> {
  return {
    onDropped: () => {},
    onDeadLetter: (reason) => log.deadLetters.push(reason),
    onFutureSchema: () => (log.futures += 1),
    onJump: (jump) => log.jumps.push(jump),
    onRetry: (error) => log.retries.push(error),
    onFatal: (error) => log.fatal.push(error),
  };
}

/** A message of one scrape, two GPUs of one node by default. */
export function scrapeMessage(given: {
  readonly node: string;
  readonly sequence: number;
  readonly at: number;
  readonly devices?: readonly Device[];
  readonly columns?: readonly string[];
  readonly values?: readonly number[];
}): OutgoingMessage {
  const { node, sequence, at } = given;
  const devices = given.devices ?? [
    { gpu: "0", uuid: `GPU-${node}-0`, model: "NVIDIA H100", namespace: "ml", pod: "train-0" },
    { gpu: "1", uuid: `GPU-${node}-1`, model: "NVIDIA H100" },
  ];
  const columns = given.columns ?? [
    "gr_engine_active_ratio",
    "gpu_utilization_ratio",
    "energy_joules",
    "DCGM_FI_DEV_X",
  ];
  const values = given.values ?? devices.flatMap((_, row) => [0.5, 0.25 + row, 1234.567, 7]);
  const origin = { cluster: "test", node, target: `http://${node}:9400/metrics`, collector: "c-0" };
  const moment = { epoch: 1, sequence, scrapedAtMillis: at, intervalMillis: 30_000, durationMicros: 900, dropped: {} };
  const stable = encodeStable(origin, { exporter: "dcgm-exporter", columns, devices });
  return {
    key: JSON.stringify(["test", node]),
    value: encodeScrape(stable, moment, Float64Array.from(values)),
    schemaVersion: SCRAPE_SCHEMA_VERSION,
  };
}
