import { describe, expect, it } from "vitest";
import { GRACE_MILLIS, pauseAfter, progressOf } from "../../../../reports/delivery/progress.ts";
import type { DeliveryEvent, DeliveryRecord } from "../../../../reports/delivery/records.ts";
import { MINUTE_MILLIS as MINUTE } from "../../../../domain/time.ts";

const T = Date.UTC(2026, 3, 3, 6);
const record = (
  what: DeliveryEvent,
  attempt: number,
  at: number,
  given: Partial<DeliveryRecord> = {},
): DeliveryRecord => ({
  delivery: "costs",
  recipient: "finance",
  from: 0,
  until: 1,
  due: T,
  what,
  attempt,
  claim: `claim ${attempt}`,
  at,
  leaseUntil: what === "started" ? at + 2 * MINUTE : 0,
  who: "server-a",
  details: what === "failed" || what === "waiting" || what === "given up" ? { reason: `${what} ${attempt}` } : {},
  ...given,
});
const standing = (records: readonly DeliveryRecord[], now: number) => progressOf(records, now).standing;

describe("the progress of a delivery", () => {
  it("pauses 1, 2, 4 … minutes after failures, an hour at most", () => {
    expect([1, 2, 3, 6, 7, 8, 50].map((failures) => pauseAfter(failures) / MINUTE)).toEqual([1, 2, 4, 32, 60, 60, 60]);
  });

  it("is due without events, waits with the reason of a waiting event, and is due again after it was started and stopped", () => {
    expect(standing([], T)).toEqual({ state: "due" });
    const waits = [record("waiting", 0, T), record("waiting", 0, T + 1, { details: { reason: "later" } })];
    expect(standing(waits, T + 2)).toEqual({ state: "waiting", at: T + 1, reason: "later" });
    const stopped = [...waits, record("started", 1, T + 2), record("stopped", 1, T + 3)];
    expect(standing(stopped, T + 3)).toEqual({ state: "due" });
  });

  it("counts the failures of a round in any order of the events", () => {
    const records = [1, 2, 3].flatMap((attempt) => [
      record("started", attempt, T + attempt * MINUTE),
      record("failed", attempt, T + attempt * MINUTE + 1),
    ]);
    const failed = { state: "failed", at: T + 3 * MINUTE + 1, reason: "failed 3", nextTry: T + 7 * MINUTE + 1 };
    expect(progressOf(records, T + 4 * MINUTE)).toEqual({ standing: failed, last: 3, tries: 3, firstTry: T + MINUTE });
    expect(standing(records.toReversed(), T + 4 * MINUTE)).toEqual(failed);
  });

  it("is running while a lease and its grace last, with any number of renewals, and has failed afterwards", () => {
    const lease = [record("started", 1, T), record("started", 1, T + MINUTE)];
    const end = T + 3 * MINUTE + GRACE_MILLIS;
    expect(standing(lease, end - 1)).toEqual({ state: "under way", at: T, who: "server-a" });
    expect(standing(lease, end)).toEqual({
      state: "failed",
      at: end,
      reason: "server-a ended before it recorded the result",
      nextTry: end + MINUTE,
    });
  });

  it("stays delivered after any other event", () => {
    const records = [
      record("started", 1, T),
      record("started", 2, T + 5 * MINUTE),
      record("failed", 2, T + 6 * MINUTE),
      record("delivered", 1, T + 7 * MINUTE, { details: { file: "costs.csv" } }),
      record("given up", 2, T + 8 * MINUTE),
      record("retried", 3, T + 9 * MINUTE),
    ];
    expect(standing(records, T + 10 * MINUTE)).toMatchObject({ state: "delivered", details: { file: "costs.csv" } });
  });

  it("is given up until a new attempt is requested; then it begins again", () => {
    const given = [record("started", 1, T), record("failed", 1, T), record("given up", 1, T)];
    expect(standing(given, T + MINUTE)).toEqual({ state: "given up", at: T, reason: "given up 1" });
    const retried = [...given, record("retried", 2, T + MINUTE)];
    expect(progressOf(retried, T + MINUTE)).toEqual({
      standing: { state: "due" },
      last: 2,
      tries: 1,
      firstTry: undefined,
    });
    const again = [...retried, record("started", 3, T + MINUTE), record("failed", 3, T + MINUTE)];
    expect(progressOf(again, T + MINUTE)).toEqual({
      standing: { state: "failed", at: T + MINUTE, reason: "failed 3", nextTry: T + 2 * MINUTE },
      last: 3,
      tries: 2,
      firstTry: T + MINUTE,
    });
  });
});
