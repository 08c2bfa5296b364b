import { attemptDelivery, named, type AttemptContext, type AttemptOutcome } from "./attempt.ts";
import { occasionKey, type Delivery } from "./delivery.ts";
import { progressOf, type Progress } from "./progress.ts";
import { obstacleTo } from "./ready.ts";
import { claimAttempt, readOccasion, writeRecord, type Occasion } from "./records.ts";
import { periodName } from "./schedule.ts";

/** The interval of checks of waiting deliveries, which need queries of the store. */
const LOOK_AGAIN_MILLIS = 60_000;

/** The dependencies of an attendance. */
export interface AttendanceOptions extends AttemptContext {
  /** Called at the end of every attempt. */
  readonly onOutcome?: ((outcome: AttemptOutcome) => void) | undefined;
}

/** Returns a function that attempts the delivery of an occasion if it is ready, and records why it waits or was given up. */
export function createAttendance(
  options: AttendanceOptions,
  signal: AbortSignal,
): (delivery: Delivery, occasion: Occasion) => Promise<void> {
  const { store, now, who, logger, leaseMillis, ledger, onOutcome } = options;
  const lookedAt = new Map<string, number>();

  async function attend(delivery: Delivery, occasion: Occasion): Promise<void> {
    const key = occasionKey(occasion);
    const records = await readOccasion(store, occasion);
    const progress = progressOf(records, now());
    if (!isToDo(progress, now()) || (await giveUpIfSpent(delivery, occasion, progress))) return;
    if (now() < (lookedAt.get(key) ?? -Infinity) + LOOK_AGAIN_MILLIS) return;
    const span = { name: periodName(occasion), from: occasion.from, until: occasion.until };
    const reason = await obstacleTo(store, delivery.configured, span, ledger);
    if (reason !== undefined) {
      lookedAt.set(key, now());
      await wait(occasion, progress, reason);
      return;
    }
    lookedAt.delete(key);
    const claim = await claimAttempt(store, occasion, { attempt: progress.last + 1, at: now(), who, leaseMillis });
    if (claim === undefined) return;
    const outcome = await attemptDelivery(options, delivery, { occasion, claim }, signal);
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

  return attend;
}

/** Returns true if there is work for an occasion now. */
export function isToDo({ standing }: Progress, now: number): boolean {
  return (
    standing.state === "due" || standing.state === "waiting" || (standing.state === "failed" && now >= standing.nextTry)
  );
}
