import type { DeliveryDetails, DeliveryRecord } from "./records.ts";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

/** The progress of an occasion. Times are milliseconds since the epoch. */
export interface Progress {
  readonly standing: Standing;
  /** The number of the last attempt or of the last retry request; 0 if there was neither. */
  readonly last: number;
  /** The number of attempts. */
  readonly tries: number;
  /** The time of the first attempt since the last retry request; undefined if there was none. */
  readonly firstTry: number | undefined;
}

/** The state of an occasion. */
export type Standing =
  | { readonly state: "due" }
  | { readonly state: "waiting"; readonly at: number; readonly reason: string }
  | { readonly state: "under way"; readonly at: number; readonly who: string }
  | { readonly state: "failed"; readonly at: number; readonly reason: string; readonly nextTry: number }
  | { readonly state: "delivered"; readonly at: number; readonly details: DeliveryDetails }
  | { readonly state: "given up"; readonly at: number; readonly reason: string };

const LONGEST_PAUSE_MILLIS = HOUR_MILLIS;

/** The time after the end of a lease when another server takes over. Clocks of servers differ. */
export const GRACE_MILLIS = 30_000;

/** Returns the pause after a number of failures: 1, 2, 4 … minutes, at most one hour. */
export function pauseAfter(failures: number): number {
  return Math.min(MINUTE_MILLIS * 2 ** Math.max(0, failures - 1), LONGEST_PAUSE_MILLIS);
}

/**
 * Returns the progress of an occasion from its records, in any order. An attempt whose lease ended without a record has failed: its server
 * ended or lost the store.
 */
export function progressOf(records: readonly DeliveryRecord[], now: number): Progress {
  const last = Math.max(0, ...records.map(({ attempt }) => attempt));
  const since = Math.max(0, ...records.filter(({ what }) => what === "retried").map(({ attempt }) => attempt));
  const ofRound = records.filter(({ attempt }) => attempt >= since);
  const attempts = attemptsIn(ofRound, now);
  return {
    standing: standingOf(records, ofRound, attempts, last),
    last,
    tries: new Set(records.filter(({ what }) => what === "started").map(({ attempt }) => attempt)).size,
    firstTry: attempts.length === 0 ? undefined : Math.min(...attempts.map(({ at }) => at)),
  };
}

/** An attempt of a round. */
interface Attempt {
  readonly number: number;
  readonly at: number;
  readonly who: string;
  readonly outcome: "running" | "stopped" | { readonly at: number; readonly failure: string };
}

function attemptsIn(records: readonly DeliveryRecord[], now: number): readonly Attempt[] {
  const numbers = new Set(records.filter(({ what }) => what === "started").map(({ attempt }) => attempt));
  return [...numbers].map((number) => {
    const own = records.filter(({ attempt }) => attempt === number);
    const started = own.filter(({ what }) => what === "started").toSorted((a, b) => a.at - b.at);
    const [{ at, who }] = started as [DeliveryRecord];
    const leaseEnd = Math.max(...started.map(({ leaseUntil }) => leaseUntil)) + GRACE_MILLIS;
    const failed = own.find(({ what }) => what === "failed");
    if (failed !== undefined) return { number, at, who, outcome: { at: failed.at, failure: reasonOf(failed) } };
    if (own.some(({ what }) => what === "stopped")) return { number, at, who, outcome: "stopped" };
    if (now < leaseEnd) return { number, at, who, outcome: "running" };
    return { number, at, who, outcome: { at: leaseEnd, failure: `${who} ended before it recorded the result` } };
  });
}

function standingOf(
  records: readonly DeliveryRecord[],
  ofRound: readonly DeliveryRecord[],
  attempts: readonly Attempt[],
  last: number,
): Standing {
  const delivered = records.find(({ what }) => what === "delivered");
  if (delivered !== undefined) return { state: "delivered", at: delivered.at, details: delivered.details };
  const givenUp = ofRound.find(({ what }) => what === "given up");
  if (givenUp !== undefined) return { state: "given up", at: givenUp.at, reason: reasonOf(givenUp) };
  const attempt = attempts.find(({ number }) => number === last);
  if (attempt?.outcome === "running") return { state: "under way", at: attempt.at, who: attempt.who };
  const waits = ofRound.filter(({ what, attempt: number }) => what === "waiting" && number === last);
  const waiting = waits.toSorted((a, b) => b.at - a.at)[0];
  if (waiting !== undefined) return { state: "waiting", at: waiting.at, reason: reasonOf(waiting) };
  if (attempt === undefined || attempt.outcome === "stopped") return { state: "due" };
  const { at, failure } = attempt.outcome;
  // A server that is stopped has not failed.
  const failures = attempts.filter(({ outcome }) => typeof outcome === "object").length;
  return { state: "failed", at, reason: failure, nextTry: at + pauseAfter(failures) };
}

function reasonOf({ details }: DeliveryRecord): string {
  return String(details["reason"] ?? "");
}
