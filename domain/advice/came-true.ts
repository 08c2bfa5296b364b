import { divide, multiply, rational, type Rational } from "../exact/rational.ts";
import { difference, exactly, lastUnits, roundToLastUnit, sum, type Money } from "../exact/units.ts";
import { DAY_MILLIS, HOURS_OF_DAY } from "../time.ts";
import type { Window } from "./evidence.ts";

/** The cost of a workload by day: the start of the day in UTC, milliseconds since the epoch, to the cost of its holders. */
export type DailyCosts = ReadonlyMap<number, Money>;

/** A card that is not there any more, or that somebody marked as taken. */
export interface Promised {
  /** The last window that has the card. */
  readonly window: Window;
  /** The saving of the owner in that window. */
  readonly owner: Money;
  /** The first day after the change, milliseconds since the epoch. */
  readonly changedAt: number;
}

/** The results of a change, for people. A promise came true if at least half of it came, and partly if at least a tenth did. */
export const VERDICTS = {
  "came-true": "came true",
  partly: "partly",
  gone: "no lower cost",
  "too-early": "too early",
} as const;

/** The result of a change. `gone`: the card has ended, and the cost is no lower. `too-early`: less than three days after the change. */
export type Verdict = keyof typeof VERDICTS;

/** The promise of a card and its result, per hour of time. */
export interface Outcome {
  readonly promised: Money;
  readonly before: Money;
  readonly after: Money;
  /** The cost before the change, changed as the cost of similar workloads has changed since then. */
  readonly expected: Money;
  /** `expected` minus `after`, and the least and the most of it on one day. */
  readonly came: Money;
  readonly least: Money;
  readonly most: Money;
  /** The days after the change, and the similar workloads. */
  readonly days: number;
  readonly similar: number;
  readonly verdict: Verdict;
}

const LEAST_DAYS = 3;

/**
 * Compares the cost of a workload per hour before and after a change, with that of similar workloads that did not change
 * (difference-in-differences). Days go up to `until`, the end of the last whole day. Undefined before the first day after the change.
 */
export function outcomeOf(
  { window, owner, changedAt }: Promised,
  costs: DailyCosts,
  { similar, until }: { readonly similar: readonly DailyCosts[]; readonly until: number },
): Outcome | undefined {
  const [beforeDays, afterDays] = [daysOf(window.from, window.until), daysOf(changedAt, until)];
  if (afterDays.length === 0 || beforeDays.length === 0) return undefined;
  const isSteady = (each: DailyCosts): boolean =>
    [...beforeDays, ...afterDays].every((day) => (each.get(day) ?? 0n) > 0n);
  const steady = similar.filter(isSteady);
  const ratio = ratioOf(steady, beforeDays, afterDays);
  const before = perHour(costs, beforeDays);
  const after = perHour(costs, afterDays);
  const expected = roundToLastUnit<"currency">(multiply(exactly(before), ratio));
  const ofDays = afterDays.map((day) => difference(expected, perHour(costs, [day])));
  const promised = roundToLastUnit<"currency">(divide(exactly(owner), rational(beforeDays.length * HOURS_OF_DAY)));
  const came = difference(expected, after);
  return {
    promised,
    before,
    after,
    expected,
    came,
    least: ofDays.reduce((least, each) => (each < least ? each : least)),
    most: ofDays.reduce((most, each) => (each > most ? each : most)),
    days: afterDays.length,
    similar: steady.length,
    verdict: afterDays.length < LEAST_DAYS ? "too-early" : verdictOf(came, promised),
  };
}

function verdictOf(came: Money, promised: Money): Verdict {
  if (came * 2n >= promised) return "came-true";
  return came * 10n >= promised ? "partly" : "gone";
}

/** Returns by which factor the cost per hour of similar workloads has changed; 1 without similar workloads. */
function ratioOf(similar: readonly DailyCosts[], before: readonly number[], after: readonly number[]): Rational {
  const totalOf = (days: readonly number[]): Rational =>
    divide(exactly(sum(similar.map((costs) => totalIn(costs, days)))), rational(days.length));
  return similar.length === 0 ? rational(1) : divide(totalOf(after), totalOf(before));
}

function perHour(costs: DailyCosts, days: readonly number[]): Money {
  return roundToLastUnit(divide(exactly(totalIn(costs, days)), rational(days.length * HOURS_OF_DAY)));
}

function totalIn(costs: DailyCosts, days: readonly number[]): Money {
  return sum(days.map((day) => costs.get(day) ?? lastUnits<"currency">(0n)));
}

function daysOf(from: number, until: number): readonly number[] {
  return Array.from(
    { length: Math.max(0, Math.floor((until - from) / DAY_MILLIS)) },
    (_, day) => from + day * DAY_MILLIS,
  );
}
