import { schedule as scheduleTask, type ScheduledTask } from "node-cron";
import pLimit from "p-limit";
import { DAY_MILLIS } from "../../domain/time.ts";
import { pause } from "../../runtime/clock.ts";
import type { ConfiguredDelivery } from "../../runtime/config/deliveries.ts";
import type { AttemptContext, AttemptOutcome } from "./attempt.ts";
import { createAttendance, isToDo } from "./attend.ts";
import { byOccasion, deliveriesOf, occasionKey, owedOf, type Delivery } from "./delivery.ts";
import { progressOf, type Progress } from "./progress.ts";
import {
  readRecords,
  readSchedules,
  scheduleKey,
  writeSchedule,
  type KnownSchedules,
  type Occasion,
} from "./records.ts";
import { OLDEST_MILLIS } from "./schedule.ts";

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
/** The number of recipients that are served at once. */
const AT_ONCE = 4;
const STOP_MILLIS = 5_000;
const LATE_MILLIS = DAY_MILLIS;

/** Creates a delivery worker that has made no check yet. */
export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { store, now, who, logger, leaseMillis = LEASE_MILLIS, onLook } = options;
  const deliveries = deliveriesOf(options.deliveries);
  const stopping = new AbortController();
  const attend = createAttendance({ ...options, leaseMillis }, stopping.signal);
  const atOnce = pLimit(AT_ONCE);
  /** The work for each recipient: one task at a time. */
  const busy = new Map<Delivery, Promise<void>>();
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

function isLate({ standing }: Progress, sinceDue: number): boolean {
  return standing.state === "given up" || (standing.state !== "delivered" && sinceDue > LATE_MILLIS);
}
