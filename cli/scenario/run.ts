import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { CommandError } from "../context.ts";
import { keepBooks } from "./books.ts";
import { startFacts } from "../../processors/ingest/facts.ts";
import type { Intake } from "../../processors/ingest/intake.ts";
import { startProcessor, type ProcessorEvents } from "../../processors/ingest/processor.ts";
import { startServing } from "../../processors/ingest/serving.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import { openEmbeddedBus } from "../../runtime/bus/embedded/embedded-bus.ts";
import { topicDeclarations } from "../../runtime/bus/topics.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLifecycle, type Lifecycle } from "../../runtime/lifecycle/stopping.ts";
import { createStoreClient, type StoreClient } from "../../runtime/store/client.ts";
import { MIGRATIONS_FOLDER } from "../../runtime/store/connection.ts";
import { emptyTables } from "../../runtime/store/empty-tables.ts";
import { STORE_PROGRAM } from "../../runtime/store/embedded/program.ts";
import { CHARGE_VIEWS } from "../../runtime/store/schema/charge-views.ts";
import { startMigratedStore } from "../../runtime/store/embedded/migrated-store.ts";
import type { Bill } from "../../scenarios/bill.ts";
import type { PlayedMessage } from "../../scenarios/play/message.ts";
import { play } from "../../scenarios/play/play.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

const logger = pino({ level: "silent" });
const DATABASE = "scenario";
const FLUSH_MILLIS = 50;
const FLUSH_ROWS = 20_000;
const POLL_MILLIS = 20;
const MESSAGES_PER_SEND = 500;

/** A runner that plays scenarios in one store, one after the other. */
export interface ScenarioRunner {
  /**
   * Plays a scenario through the real pipeline. Its messages go over a bus of its own, through processors, into empty tables without TTL.
   * They are metered and charged hour by hour, and the books follow the scenario's events. Returns the result of `make` from the store and
   * the bill of each policy. Fails with a {@link CommandError}.
   */
  play<Made>(
    scenario: Scenario,
    make: (store: StoreClient, bills: ReadonlyMap<string, Bill>) => Promise<Made>,
  ): Promise<Made>;
}

/**
 * Lends a runner with an embedded store and embedded buses in a temporary folder. The folder is removed when `work` has ended. It is also
 * removed after a signal. Then the call fails with a {@link CommandError} that names the signal. The store begins with a copy in `keptIn`,
 * see `startMigratedStore`.
 */
export async function withScenarioRunner<Made>(
  work: (runner: ScenarioRunner) => Promise<Made>,
  keptIn?: string,
): Promise<Made> {
  const interruption = interruptionBySignals();
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-scenario-"));
  const lifecycle = createLifecycle(logger);
  lifecycle.add("folder", { stop: () => rm(folder, { recursive: true, force: true }) });
  const starting = startStore(folder, keptIn, lifecycle);
  try {
    const working = starting.then((store) =>
      work(createRunner({ folder, store, lifecycle, signal: interruption.signal })),
    );
    return await Promise.race([working, rejectionOf(interruption.signal)]);
  } finally {
    interruption.dispose();
    // A part that is still starting must exist before it can be stopped.
    await starting.catch(() => undefined);
    await lifecycle.stop();
  }
}

/** Aborts with a {@link CommandError} if the process gets a signal that ends it. */
function interruptionBySignals(): { readonly signal: AbortSignal; dispose(): void } {
  const abort = new AbortController();
  const interrupt = (name: NodeJS.Signals): void => abort.abort(new CommandError(`interrupted by ${name}`));
  const names = ["SIGINT", "SIGTERM"] as const;
  for (const name of names) process.once(name, interrupt);
  return {
    signal: abort.signal,
    dispose() {
      for (const name of names) process.off(name, interrupt);
    },
  };
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
}

async function startStore(folder: string, keptIn: string | undefined, lifecycle: Lifecycle): Promise<StoreClient> {
  const embedded = await startMigratedStore({
    folder: join(folder, "store"),
    program: [process.execPath, STORE_PROGRAM],
    logger,
    database: DATABASE,
    migrations: MIGRATIONS_FOLDER,
    views: CHARGE_VIEWS,
    retentionDays: { raw: 0, fiveMinutes: 0 },
    keptIn,
  });
  lifecycle.add("store", embedded);
  const store = createStoreClient({ url: embedded.url, ...embedded.user, database: DATABASE });
  lifecycle.add("client", { stop: () => store.close() });
  return store;
}

function createRunner({
  folder,
  store,
  lifecycle,
  signal,
}: {
  readonly folder: string;
  readonly store: StoreClient;
  readonly lifecycle: Lifecycle;
  readonly signal: AbortSignal;
}): ScenarioRunner {
  let played = 0;
  let opening: Promise<Bus> | undefined;
  const closeBus = async (): Promise<void> => {
    const opened = opening;
    opening = undefined;
    await (await opened)?.close();
  };
  lifecycle.add("bus", { stop: closeBus });
  return {
    async play(scenario, make) {
      signal.throwIfAborted();
      if (played > 0) await emptyTables(store);
      signal.throwIfAborted();
      played += 1;
      opening = openEmbeddedBus({ folder: join(folder, `bus-${played}`), clock: systemClock, logger });
      const bus = await opening;
      try {
        const kept = Date.now() - scenario.period.start + 365 * DAY_MILLIS;
        await bus.declare(
          topicDeclarations({
            kind: "embedded",
            samplePartitions: 1,
            retention: kept,
            retentionSize: 1e12,
            spool: 1e9,
          }),
        );
        await storeAll(bus, store, play(scenario));
        return await make(store, await keepBooks(store, scenario, (messages) => storeAll(bus, store, messages)));
      } finally {
        await closeBus();
      }
    },
  };
}

/** Sends all messages, and waits until processors have stored them. */
async function storeAll(bus: Bus, store: StoreClient, played: Iterable<PlayedMessage>): Promise<void> {
  let failure: string | undefined;
  const events = failingEvents((what) => (failure ??= what));
  const options = { bus, store, flushMillis: FLUSH_MILLIS, flushRows: FLUSH_ROWS, now: Date.now };
  const intakes: readonly Intake[] = [
    await startFacts({ ...options, events: { ...events, onStored: () => {} } }),
    await startProcessor({ ...options, events }),
    await startServing({ ...options, events }),
  ];
  try {
    let portion = new Map<string, Parameters<Bus["send"]>[1][number][]>();
    let waiting = 0;
    const send = async (): Promise<void> => {
      for (const [topic, messages] of portion) await bus.send(topic, messages);
      portion = new Map();
      waiting = 0;
    };
    for (const { topic, atMillis: _, ...message } of played) {
      portion.set(topic, [...(portion.get(topic) ?? []), message]);
      waiting += 1;
      if (waiting >= MESSAGES_PER_SEND) await send();
    }
    await send();
    while (failure === undefined && (await lagOf(intakes)) > 0) await sleep(POLL_MILLIS);
    if (failure !== undefined) throw new CommandError(failure);
  } finally {
    for (const intake of intakes) await intake.stop();
  }
}

async function lagOf(intakes: readonly Intake[]): Promise<number> {
  const lags = await Promise.all(intakes.map(({ member }) => member.lag()));
  return lags.flat().reduce((sum, { messages }) => sum + messages, 0);
}

/** Returns events that fail the run. A scenario's own messages never cause them. */
function failingEvents(fail: (what: string) => void): ProcessorEvents {
  return {
    onStored: () => {},
    onFresh: () => {},
    onTraced: () => {},
    onDropped: () => {},
    onRetry: () => {},
    onPassedOver: (reason) => fail(`a fact was skipped: ${reason}`),
    onDeadLetter: (reason, _, cause) => fail(`a message could not be used: ${reason}, ${cause}`),
    onFutureSchema: () => fail("a message is of a newer schema"),
    onJump: () => fail("messages were lost"),
    onFatal: (error) => fail(`storing failed: ${String(error)}`),
  };
}
