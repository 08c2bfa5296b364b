import pLimit from "p-limit";
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

/** Delivers what is due, as one of any number of servers. */
export interface Courier {
  /** Looks once at what is due, and delivers it. Fails with a `StoreError`. */
  turn(): Promise<void>;
  /** Looks again and again from now on. */
  start(): void;
  /** Ends within seconds: what is under way is broken off, and another server, or this one later, does it again. */
  stop(): Promise<void>;
}

/** What a courier works with. */
export interface CourierOptions extends Omit<AttemptContext, "leaseMillis"> {
  readonly deliveries: readonly ConfiguredDelivery[];
  /** How often it looks. */
  readonly everyMillis?: number;
  /** For how long an attempt is a server's own, unless that says more. */
  readonly leaseMillis?: number;
  /** Hears of the end of every attempt. */
  readonly onOutcome?: (outcome: AttemptOutcome) => void;
  /** Hears whenever it has looked how many were given up, or are due for more than a day. */
  readonly onLook?: (late: number) => void;
}

const EVERY_MILLIS = 15_000;
const LEASE_MILLIS = 120_000;
/** What waits is looked at so often: what it waits for is asked of the store. */
const LOOK_AGAIN_MILLIS = 60_000;
/** So many recipients get something at once. */
const AT_ONCE = 4;
const STOP_MILLIS = 5_000;
const LATE_MILLIS = 86_400_000;

/** A courier that has not looked yet. */
export function createCourier(options: CourierOptions): Courier {
  const { store, now, who, logger, everyMillis = EVERY_MILLIS, leaseMillis = LEASE_MILLIS } = options;
  const { onOutcome, onLook } = options;
  const context: AttemptContext = { ...options, leaseMillis };
  const deliveries = deliveriesOf(options.deliveries);
  const stopping = new AbortController();
  const atOnce = pLimit(AT_ONCE);
  /** What is done for each recipient: one thing at a time. */
  const busy = new Map<Delivery, Promise<void>>();
  const lookedAt = new Map<string, number>();
  let looking: Promise<void> = Promise.resolve();

  /** Looks what is owed, and begins with it. */
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
      work.catch((error: unknown) => logger.warn({ err: error }, "deliveries could not be looked after"));
    }
    onLook?.(late);
  }

  /** Writes down which schedules are known from now on: of what was due before nothing is owed. */
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

  /** Writes down why something waits, where that is another reason than before. */
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
    logger.error({ ...named(occasion), tries, reason }, "a delivery is given up: see `gpu-ledger deliveries`");
    await writeRecord(store, occasion, { what: "given up", attempt: last, at: now(), who, details: { reason } });
    return true;
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      await look().catch((error: unknown) => logger.warn({ err: error }, "what is due could not be looked at"));
      await pause(everyMillis, stopping.signal);
    }
  }

  return {
    async turn() {
      await look();
      await Promise.all(busy.values());
    },
    start() {
      if (deliveries.length > 0) looking = loop();
    },
    async stop() {
      stopping.abort();
      const ended = new AbortController();
      const all = Promise.allSettled([looking, ...busy.values()]);
      await Promise.race([all, pause(STOP_MILLIS, ended.signal)]);
      ended.abort();
    },
  };
}

/** Whether something can be done for an occasion now. */
function isToDo({ standing }: Progress, now: number): boolean {
  return (
    standing.state === "due" || standing.state === "waiting" || (standing.state === "failed" && now >= standing.nextTry)
  );
}

function isLate({ standing }: Progress, sinceDue: number): boolean {
  return standing.state === "given up" || (standing.state !== "delivered" && sinceDue > LATE_MILLIS);
}
