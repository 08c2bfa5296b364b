import { CronExpressionParser } from "cron-parser";
import { readSpan, spanText, type Span } from "../question/span.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";

/** What a delivery is of: the last one that was over when it was due, by UTC. */
export type DeliveryPeriod = "day" | "week" | "month";

/** When something is delivered, and of which time. */
export interface DeliverySchedule {
  /** Five fields of cron. */
  readonly schedule: string;
  /** Of IANA. */
  readonly timeZone: string;
  readonly period: DeliveryPeriod;
}

/** A period, and when its delivery is due: milliseconds since the epoch. */
export interface DuePeriod {
  readonly span: Span;
  readonly due: number;
}

/** Answers what is due of a schedule. */
export interface DuePeriods {
  /**
   * The periods whose deliveries became due from a time on until now, the oldest first; those of the last 92 days, and the newest 100 at
   * most.
   */
  owed(since: number, now: number): readonly DuePeriod[];
  /** The next that will be due after now; undefined where none is in the next 400 days. */
  next(now: number): DuePeriod | undefined;
}

/** What became due longer ago is not owed any more. */
export const OLDEST_MILLIS = 92 * DAY_MILLIS;
const MOST_OWED = 100;
const FURTHEST_MILLIS = 400 * DAY_MILLIS;

/** Moments of a schedule that comes as often as its periods lie no further apart than this: two hours more where clocks are changed. */
const LONGEST_MILLIS: Readonly<Record<DeliveryPeriod, number>> = {
  day: DAY_MILLIS + 2 * HOUR_MILLIS,
  week: 7 * DAY_MILLIS + 2 * HOUR_MILLIS,
  month: 31 * DAY_MILLIS + 2 * HOUR_MILLIS,
};

/**
 * What is due of a schedule. A period is due at the first moment from its end on, if that comes before the end of the next period: a schedule
 * for Mondays with the period `day` is of Sundays. Where clocks are changed, 25 hours can lie between two moments of a daily schedule
 * and a whole UTC day with its end between them: that one is due at the second. So every period is due once or not at all, however
 * often the schedule comes and however often the clock shows its time.
 */
export function duePeriods({ schedule, timeZone, period }: DeliverySchedule): DuePeriods {
  const longest = LONGEST_MILLIS[period];
  const from = (millis: number): number =>
    CronExpressionParser.parse(schedule, { tz: timeZone, currentDate: new Date(millis - 1) })
      .next()
      .getTime();
  /** Looking for a moment takes a millisecond, and the same ones are asked for all the time. */
  const known = new Map<number, number | undefined>();

  function findDue(span: Span): number | undefined {
    const moment = from(span.until);
    const isInTime = moment < periodAt(period, span.until).until;
    return isInTime || from(moment - longest) < span.until ? moment : undefined;
  }

  function dueOf(span: Span): number | undefined {
    if (!known.has(span.from)) {
      if (known.size > 10 * MOST_OWED) known.clear();
      known.set(span.from, findDue(span));
    }
    return known.get(span.from);
  }

  return {
    owed(since, now) {
      const earliest = Math.max(since, now - OLDEST_MILLIS);
      const owed: DuePeriod[] = [];
      let span = periodAt(period, now);
      while (owed.length < MOST_OWED) {
        span = periodAt(period, span.from - 1);
        if (span.until + longest < earliest) break;
        const due = dueOf(span);
        if (due !== undefined && due >= earliest && due <= now) owed.push({ span, due });
      }
      return owed.reverse();
    },
    next(now) {
      let span = periodAt(period, periodAt(period, now).from - 1);
      for (; span.until < now + FURTHEST_MILLIS; span = periodAt(period, span.until)) {
        const due = dueOf(span);
        if (due !== undefined && due > now) return { span, due };
      }
      return undefined;
    },
  };
}

/** What spans call the day, the week and the month that run. */
const RUNNING = { day: "today", week: "week", month: "month" } as const;

/** The UTC day, week or month that a time is in, named as {@link periodName} does. */
export function periodAt(period: DeliveryPeriod, millis: number): Span {
  const read = readSpan(RUNNING[period], millis);
  if ("error" in read) throw new TypeError(read.error);
  const { from, until } = read.span;
  return { name: periodName({ from, until }), from, until };
}

/** A period as people write it, and as spans are read: `2026-03`, `2026-03-14`, `2026-03-09/2026-03-16`. */
export function periodName({ from, until }: Pick<Span, "from" | "until">): string {
  return until - from === DAY_MILLIS ? new Date(from).toISOString().slice(0, 10) : spanText({ from, until });
}
