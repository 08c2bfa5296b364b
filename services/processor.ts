import type { ProcessorRole } from "./role.ts";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { startFacts } from "../processors/ingest/facts.ts";
import type { Intake } from "../processors/ingest/intake.ts";
import { startProcessor, type ProcessorEvents } from "../processors/ingest/processor.ts";
import { startServing } from "../processors/ingest/serving.ts";
import { createGpuPrices, type PricedNode } from "../processors/live/gpu-price.ts";
import { createLiveDevices } from "../processors/live/gpus/devices.ts";
import type { PageSink } from "../processors/live/gpus/exposition.ts";
import { writeGpuPage } from "../processors/live/gpus/page.ts";
import { createLivePods } from "../processors/live/pods.ts";
import { createQueueBoard } from "../processors/live/queue-board.ts";
import { openBus } from "../runtime/bus/open.ts";
import { topicDeclarations } from "../runtime/bus/topics.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";
import { repeat, type Repeated } from "../runtime/lifecycle/repeat.ts";
import { createLifecycle, type Lifecycle } from "../runtime/lifecycle/stopping.ts";
import { connectStore, type StoreAddress } from "../runtime/store/connection.ts";
import { createMetrics, type Metrics } from "../runtime/telemetry/metrics.ts";
import { startTelemetry, type Tracing } from "../runtime/telemetry/telemetry.ts";
import { createRate } from "../runtime/telemetry/rate.ts";
import { registerProcessMetrics } from "../runtime/telemetry/process-metrics.ts";
import { startLedger } from "./ledger.ts";
import { ownNodes, startLivePods } from "./live-pods.ts";
import { createRechargeThreads } from "./recharge.ts";
import type { ProcessorStatus } from "./role.ts";

const RATE_WINDOW_MILLIS = 60_000;
const SAMPLE_MILLIS = 1_000;
const LAST_SCRAPES = 2_000;
/** The interval of flushing facts. Facts are few and people wait for them. */
const FACTS_FLUSH_MILLIS = 1_000;

/** Starts a processor on a migrated store. `onFatal` gets errors that no retry resolves. */
export async function startProcessorRole(
  config: Config,
  address: StoreAddress,
  logger: Logger,
  onFatal: (error: unknown) => void,
): Promise<ProcessorRole> {
  const lifecycle = createLifecycle(logger);
  try {
    return await assemble(config, address, logger, onFatal, lifecycle);
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

async function assemble(
  config: Config,
  address: StoreAddress,
  logger: Logger,
  onFatal: (error: unknown) => void,
  lifecycle: Lifecycle,
): Promise<ProcessorRole> {
  const registry = new Registry();
  registerProcessMetrics(registry);
  const metrics = createMetrics(registry);
  const telemetry = lifecycle.add("telemetry", await startTelemetry(config, "gpu-ledger-processor", registry));
  const bus = await openBus(config, logger);
  lifecycle.add("bus", { stop: () => bus.close() });
  const store = connectStore(address, config);
  lifecycle.add("store", { stop: () => store.close() });
  await bus.declare(topicDeclarations(config.bus));
  const totals: Totals = { rows: 0, deadLetters: 0, ages: [], lastError: undefined };
  const events = createEvents(metrics, totals, telemetry, logger, onFatal);
  const { owners, book, policies } = ledgerOf(config);
  const board = createQueueBoard(owners, Date.now);
  const measure = policies[0].migShare;
  const pods = createLivePods(owners, measure, Date.now);
  const withMoney = config.server.moneyOnMetrics;
  const assigned = (): ReadonlySet<number> => processor.assigned;
  const isOwn = ownNodes(assigned, config.bus.samplePartitions);
  const onUnpriced = ({ cluster, node }: PricedNode, error: unknown): void =>
    logger.warn({ cluster, node, err: error }, "a node's GPUs have no price now");
  const priceOf = withMoney ? createGpuPrices(book, onUnpriced) : undefined;
  const devices = createLiveDevices({ pods, isOwn, measure, priceOf, now: Date.now });
  const { flushEvery: flushMillis, flushRows } = config.processor;
  const intake = { bus, store, flushMillis, flushRows, events, now: Date.now };
  const processor = await startProcessor({ ...intake, listeners: [board, pods], onJoined: devices.take });
  lifecycle.add("processor", processor);
  const serving = lifecycle.add("scrapes of engines", await startServing(intake));
  lifecycle.add(
    "live pods",
    startLivePods({ pods, isOwn, priceOf, currency: book.currency, metrics, logger, now: Date.now }),
  );
  lifecycle.add(
    "facts",
    await startFacts({
      ...intake,
      flushMillis: FACTS_FLUSH_MILLIS,
      events: {
        ...events,
        onStored(items) {
          for (const { value } of items) metrics.facts.inc({ table: value.table });
        },
      },
    }),
  );
  const recharge = lifecycle.add("recharge", createRechargeThreads(config, address));
  const ledger = lifecycle.add(
    "ledger",
    await startLedger({ config, bus, store, board, recharge, metrics, logger, now: Date.now }),
  );

  const lag = startLag({ processor, serving, totals, metrics, logger });
  lifecycle.add("sampling", lag);

  return {
    registry,
    status() {
      return Promise.resolve({
        rowsStored: totals.rows,
        rowsPerSecond: lag.rowsPerSecond(),
        lagMessages: lag.messages(),
        freshnessSeconds: quantiles(totals.ages),
        deadLetters: totals.deadLetters,
        pausedPartitions: processor.paused,
        ...ledger.status(),
      });
    },
    notReady: () => totals.lastError,
    async writeGpuPage(cluster, sink) {
      let isGone = false;
      const written: PageSink = (chunk) =>
        sink(chunk).catch((error: unknown) => {
          isGone = true;
          throw error;
        });
      try {
        await writeGpuPage(devices, { cluster, currency: withMoney ? book.currency : undefined }, written);
      } catch (error) {
        // A client that is gone is no failure of the page.
        if (!isGone) metrics.liveFailures.inc({ view: "gpus" });
        throw error;
      }
    },
    stop: () => lifecycle.stop(),
  };
}

/** The rate and the lag of a processor, each second. */
interface Lag extends Repeated {
  rowsPerSecond(): number;
  /** The messages of samples that are not stored yet. */
  messages(): number;
}

function startLag(of: {
  readonly processor: Intake;
  readonly serving: Intake;
  readonly totals: Totals;
  readonly metrics: Metrics;
  readonly logger: Logger;
}): Lag {
  const { processor, serving, totals, metrics, logger } = of;
  const rate = createRate(RATE_WINDOW_MILLIS);
  let lagMessages = 0;
  const sample = async (): Promise<void> => {
    rate.observe(totals.rows, Date.now());
    metrics.rowsWaiting.set(processor.waiting + serving.waiting);
    metrics.partitionsPaused.set(processor.paused.length + serving.paused.length);
    const [lags, ofServing] = await Promise.all([processor.member.lag(), serving.member.lag()]);
    metrics.servingLag.set(ofServing.reduce((sum, { messages }) => sum + messages, 0));
    metrics.lag.reset();
    for (const { partition, messages } of lags) metrics.lag.set({ partition: String(partition) }, messages);
    lagMessages = lags.reduce((sum, { messages }) => sum + messages, 0);
  };
  const onError = (error: unknown): void => logger.debug({ err: error }, "the lag cannot be read");
  return {
    ...repeat(SAMPLE_MILLIS, sample, onError),
    rowsPerSecond: () => rate.perSecond(),
    messages: () => lagMessages,
  };
}

interface Totals {
  rows: number;
  deadLetters: number;
  ages: number[];
  /** The last error of the store or the bus, until something is stored again. */
  lastError: string | undefined;
}

function quantiles(ages: readonly number[]): ProcessorStatus["freshnessSeconds"] {
  if (ages.length === 0) return undefined;
  const sorted = ages.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!;
  return { p50: at(0.5), p99: at(0.99) };
}

function createEvents(
  metrics: Metrics,
  totals: Totals,
  tracing: Tracing,
  logger: Logger,
  onFatal: (error: unknown) => void,
): ProcessorEvents {
  return {
    onStored({ scrapes, rows, seconds, joined }) {
      totals.rows += rows;
      totals.lastError = undefined;
      metrics.rows.inc(rows);
      metrics.messages.inc({ outcome: "stored" }, scrapes);
      metrics.insertSeconds.observe(seconds);
      for (const [evidence, count] of joined) metrics.rowsJoined.inc({ evidence }, count);
    },
    onFresh(seconds) {
      metrics.freshness.observe(seconds);
      totals.ages.push(seconds);
      if (totals.ages.length > LAST_SCRAPES * 2) totals.ages = totals.ages.slice(-LAST_SCRAPES);
    },
    onTraced: (traceparent, takenAt, storedAt) => tracing.recordStored(traceparent, takenAt, storedAt),
    onDropped: (reason) => metrics.messages.inc({ outcome: reason }),
    onDeadLetter(reason, { topic, partition, offset }, cause) {
      totals.deadLetters += 1;
      metrics.messages.inc({ outcome: reason });
      logger.warn({ topic, partition, offset, reason, cause }, "a message became a dead letter");
    },
    onPassedOver(reason, { topic, partition, offset }) {
      metrics.factsPassedOver.inc({ reason });
      logger.debug({ topic, partition, offset, reason }, "a fact has nothing for the join");
    },
    onFutureSchema({ partition, offset, schemaVersion }) {
      logger.error(
        { partition, offset, schemaVersion },
        "a message has a newer schema than this release supports: its partition waits until a newer release takes over",
      );
    },
    onJump({ topic, partition, from, to }) {
      metrics.messagesLost.inc(to - from);
      logger.error(
        { topic, partition, from, to, lost: to - from },
        "retention deleted messages before this group read them: they are lost",
      );
    },
    onRetry(error, attempt) {
      metrics.storeRetries.inc();
      totals.lastError = error instanceof Error ? error.message : String(error);
      logger.warn({ err: error, attempt }, "rows could not be stored; it is tried again");
    },
    onFatal(error) {
      logger.fatal({ err: error }, "rows cannot be stored: a retry does not help");
      onFatal(error);
    },
  };
}
