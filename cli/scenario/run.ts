import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { CommandError } from "../context.ts";
import { keepBooks } from "./books.ts";
import { startFacts } from "../../processors/facts.ts";
import type { Intake } from "../../processors/intake.ts";
import { startProcessor, type ProcessorEvents } from "../../processors/processor.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import { openEmbeddedBus } from "../../runtime/bus/embedded/embedded-bus.ts";
import { topicDeclarations } from "../../runtime/bus/topics.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLifecycle } from "../../runtime/lifecycle/stopping.ts";
import { createStoreClient, type StoreClient } from "../../runtime/store/client.ts";
import { MIGRATIONS_FOLDER } from "../../runtime/store/connection.ts";
import { STORE_PROGRAM } from "../../runtime/store/embedded/program.ts";
import { startEmbeddedStore } from "../../runtime/store/embedded/supervisor.ts";
import { migrate } from "../../runtime/store/migrate.ts";
import type { Bill } from "../../scenarios/bill.ts";
import type { PlayedMessage } from "../../scenarios/play/facts.ts";
import { play } from "../../scenarios/play/play.ts";
import type { Scenario } from "../../scenarios/schema.ts";

const DATABASE = "scenario";
const FLUSH_MILLIS = 50;
const FLUSH_ROWS = 20_000;
const POLL_MILLIS = 20;
const MESSAGES_PER_SEND = 500;
const DAY_MILLIS = 86_400_000;

/**
 * Plays a scenario through the real pipeline, embedded, in a temporary folder that is removed at the end: its messages over the
 * bus, through processors into a store without TTL, metered and charged hour by hour, its books kept as its events say. Gives the
 * bill of each policy.
 */
export function runScenario(scenario: Scenario): Promise<ReadonlyMap<string, Bill>> {
  return playScenario(scenario, (_, bills) => Promise.resolve(bills));
}

/** Plays a scenario, and gives what is made of its store and its bills before they are gone. */
export async function playScenario<Made>(
  scenario: Scenario,
  make: (store: StoreClient, bills: ReadonlyMap<string, Bill>) => Promise<Made>,
): Promise<Made> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-scenario-"));
  const logger = pino({ level: "silent" });
  const lifecycle = createLifecycle(logger);
  lifecycle.add("folder", { stop: () => rm(folder, { recursive: true, force: true }) });
  try {
    const embedded = await startEmbeddedStore({
      folder: join(folder, "store"),
      program: [process.execPath, STORE_PROGRAM],
      logger,
    });
    lifecycle.add("store", embedded);
    const connect = (database: string): StoreClient =>
      createStoreClient({ url: embedded.url, ...embedded.internal, database });
    const retentionDays = { raw: 0, fiveMinutes: 0 };
    await migrate({ connect, database: DATABASE, folder: MIGRATIONS_FOLDER, retentionDays, now: Date.now, logger });
    const store = connect(DATABASE);
    lifecycle.add("client", { stop: () => store.close() });
    const bus = await openEmbeddedBus({ folder: join(folder, "bus"), clock: systemClock, logger });
    lifecycle.add("bus", { stop: () => bus.close() });
    const kept = Date.now() - scenario.period.start + 365 * DAY_MILLIS;
    await bus.declare(
      topicDeclarations({ kind: "embedded", samplePartitions: 1, retention: kept, retentionSize: 1e12, spool: 1e9 }),
    );
    await storeAll(bus, store, play(scenario));
    return await make(store, await keepBooks(store, scenario, (messages) => storeAll(bus, store, messages)));
  } finally {
    await lifecycle.stop();
  }
}

/** Sends all messages, and waits until processors have stored them. */
async function storeAll(bus: Bus, store: StoreClient, played: Iterable<PlayedMessage>): Promise<void> {
  let failure: string | undefined;
  const events = eventsTelling((what) => (failure ??= what));
  const options = { bus, store, flushMillis: FLUSH_MILLIS, flushRows: FLUSH_ROWS, now: Date.now };
  const intakes: readonly Intake[] = [
    await startFacts({ ...options, events: { ...events, onStored: () => {} } }),
    await startProcessor({ ...options, events }),
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

/** What a scenario's own messages never cause is told as a failure of the run. */
function eventsTelling(fail: (what: string) => void): ProcessorEvents {
  return {
    onStored: () => {},
    onFresh: () => {},
    onTraced: () => {},
    onDropped: () => {},
    onRetry: () => {},
    onPassedOver: (reason) => fail(`a fact was passed over: ${reason}`),
    onDeadLetter: (reason, _, cause) => fail(`a message could not be used: ${reason}, ${cause}`),
    onFutureSchema: () => fail("a message is of a newer schema"),
    onJump: () => fail("messages were lost"),
    onFatal: (error) => fail(`storing failed: ${String(error)}`),
  };
}
