import { schedule as scheduleTask, type ScheduledTask } from "node-cron";
import pLimit from "p-limit";
import { DAY_MILLIS } from "../../domain/time.ts";
import { pause } from "../../runtime/clock.ts";
import type { ConfiguredDelivery } from "../../runtime/config/deliveries.ts";
import { attemptDelivery, named, type AttemptContext, type AttemptOutcome } from "./attempt.ts";
import { byOccasion, deliveriesOf, occasionKey, owedOf, type Delivery } from "./delivery.ts";
import { progressOf, type Progress } from "./progress.ts";
import { obstacleTo } from "./ready.ts";
import {
  claimAttempt,
  readOccasion,
  readRecords,
  readSchedules,
  scheduleKey,
  writeRecord,
  writeSchedule,
  type KnownSchedules,
  type Occasion,
} from "./records.ts";
import { OLDEST_MILLIS, periodName } from "./schedule.ts";

/** A worker that delivers what is due. Any number of servers can have one. */
export interface DeliveryWorker {
  /** Checks once what is due, and delivers it. Fails with a `StoreError`. */
  turn(): Promise<void>;
  /** Checks at once, at each moment of the schedules, and every 15 s for retries and waiting deliveries. */
  start(): void;
  /** Ends within seconds. Work in progress is aborted. Another server, or this one later, does it again. */
  stop(): Promise<void>;
}

/** The dependencies of a delivery worker. */
export interface DeliveryWorkerOptions extends Omit<AttemptContext, "leaseMillis"> {
  readonly deliveries: readonly ConfiguredDelivery[];
  /** The time for which an attempt belongs to one server. Default: 2 minutes. */
  readonly leaseMillis?: number;
  /** Called at the end of every attempt. */
  readonly onOutcome?: (outcome: AttemptOutcome) => void;
  /** Called after each check, with the number of deliveries that were given up or are due for more than a day. */
  readonly onLook?: (late: number) => void;
}

/** A cron expression with seconds, for checks of retries and waiting deliveries. */
const EVERY_15_SECONDS = "*/15 * * * * *";
const LEASE_MILLIS = 120_000;
/** The interval of checks of waiting deliveries, which need queries of the store. */
const LOOK_AGAIN_MILLIS = 60_000;
/** The number of recipients that are served at once. */
const AT_ONCE = 4;
const STOP_MILLIS = 5_000;
const LATE_MILLIS = DAY_MILLIS;

/** Creates a delivery worker that has made no check yet. */
export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { store, now, who, logger, leaseMillis = LEASE_MILLIS } = options;
  const { onOutcome, onLook } = options;
  const context: AttemptContext = { ...options, leaseMillis };
  const deliveries = deliveriesOf(options.deliveries);
  const stopping = new AbortController();
  const atOnce = pLimit(AT_ONCE);
  /** The work for each recipient: one task at a time. */
  const busy = new Map<Delivery, Promise<void>>();
  const lookedAt = new Map<string, number>();
  const tasks: ScheduledTask[] = [];
  let looking: Promise<void> | undefined;

  /** Finds what is owed, and begins with it. */
  async function look(): Promise<void> {
    const at = now();
    const schedules = await knowSchedules(at);
    const records = byOccasion(await readRecords(store, at - OLDEST_MILLIS));
    let late = 0;
    for (const delivery of deliveries) {
      const all = owedOf(delivery, schedules, at).map((occasion) => ({
        occasion,
        progress: progressOf(records.get(occasionKey(occasion)) ?? [], at),
      }));
      late += all.filter(({ occasion, progress }) => isLate(progress, at - occasion.due)).length;
      const owed = all.filter(({ progress }) => isToDo(progress, at)).map(({ occasion }) => occasion);
      if (busy.has(delivery) || owed.length === 0) continue;
      const work = atOnce(() => deliverAll(delivery, owed)).finally(() => busy.delete(delivery));
      busy.set(delivery, work);
      work.catch((error: unknown) => logger.warn({ err: error }, "due deliveries could not be checked"));
    }
    onLook?.(late);
  }

  /** Records the schedules that are known from now on. Nothing that was due before is owed. */
  async function knowSchedules(at: number): Promise<KnownSchedules> {
    const known = new Map(await readSchedules(store));
    for (const { configured, recipient, definition } of deliveries) {
      const key = scheduleKey(configured.name, recipient.name, definition);
      if (known.has(key)) continue;
      await writeSchedule(store, { delivery: configured.name, recipient: recipient.name, definition, who }, at);
      known.set(key, at);
    }
    return known;
  }

  async function deliverAll(delivery: Delivery, owed: readonly Occasion[]): Promise<void> {
    for (const occasion of owed) {
      if (stopping.signal.aborted) return;
      await attend(delivery, occasion);
    }
  }

  async function attend(delivery: Delivery, occasion: Occasion): Promise<void> {
    const key = occasionKey(occasion);
    const records = await readOccasion(store, occasion);
    const progress = progressOf(records, now());
    if (!isToDo(progress, now()) || (await giveUpIfSpent(delivery, occasion, progress))) return;
    if (now() < (lookedAt.get(key) ?? -Infinity) + LOOK_AGAIN_MILLIS) return;
    const span = { name: periodName(occasion), from: occasion.from, until: occasion.until };
    const reason = await obstacleTo(store, delivery.configured, span, options.ledger);
    if (reason !== undefined) {
      lookedAt.set(key, now());
      await wait(occasion, progress, reason);
      return;
    }
    lookedAt.delete(key);
    const claim = await claimAttempt(store, occasion, { attempt: progress.last + 1, at: now(), who, leaseMillis });
    if (claim === undefined) return;
    const outcome = await attemptDelivery(context, delivery, { occasion, claim }, stopping.signal);
    onOutcome?.(outcome);
    if (outcome === "waiting") lookedAt.set(key, now());
    if (outcome === "failed")
      await giveUpIfSpent(delivery, occasion, progressOf(await readOccasion(store, occasion), now()));
  }

  /** Records the reason of a wait if it has changed. */
  async function wait(occasion: Occasion, { standing, last }: Progress, reason: string): Promise<void> {
    if (standing.state === "waiting" && standing.reason === reason) return;
    logger.info({ ...named(occasion), reason }, "a delivery waits");
    await writeRecord(store, occasion, { what: "waiting", attempt: last, at: now(), who, details: { reason } });
  }

  async function giveUpIfSpent(
    { configured }: Delivery,
    occasion: Occasion,
    { standing, last, firstTry, tries }: Progress,
  ): Promise<boolean> {
    if (standing.state !== "failed" || firstTry === undefined) return false;
    if (standing.nextTry <= firstTry + configured.giveUpAfter) return false;
    const { reason } = standing;
    logger.error({ ...named(occasion), tries, reason }, "a delivery was given up; see `gpu-ledger deliveries`");
    await writeRecord(store, occasion, { what: "given up", attempt: last, at: now(), who, details: { reason } });
    return true;
  }

  /** Starts a check if none is in progress. */
  function lookNow(): void {
    if (stopping.signal.aborted) return;
    looking ??= look()
      .catch((error: unknown) => logger.warn({ err: error }, "the store could not be read for due deliveries"))
      .finally(() => (looking = undefined));
  }

  /**
   * Calls {@link lookNow} at each moment of a cron expression. A moment that a busy process misses is no loss: the next check finds all.
   */
  function lookAt(expression: string, timezone: string): void {
    tasks.push(scheduleTask(expression, lookNow, { timezone, suppressMissedWarning: true }));
  }

  return {
    async turn() {
      await look();
      await Promise.all(busy.values());
    },
    start() {
      if (deliveries.length === 0) return;
      for (const { schedule, timeZone } of options.deliveries) lookAt(schedule, timeZone);
      lookAt(EVERY_15_SECONDS, "UTC");
      lookNow();
    },
    async stop() {
      stopping.abort();
      for (const task of tasks) await task.destroy();
      const ended = new AbortController();
      const all = Promise.allSettled([looking, ...busy.values()]);
      await Promise.race([all, pause(STOP_MILLIS, ended.signal)]);
      ended.abort();
    },
  };
}

/** Returns true if there is work for an occasion now. */
function isToDo({ standing }: Progress, now: number): boolean {
  return (
    standing.state === "due" || standing.state === "waiting" || (standing.state === "failed" && now >= standing.nextTry)
  );
}

function isLate({ standing }: Progress, sinceDue: number): boolean {
  return standing.state === "given up" || (standing.state !== "delivered" && sinceDue > LATE_MILLIS);
}
