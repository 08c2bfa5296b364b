import { CronExpressionParser } from "cron-parser";
import { readSpan, spanText, type Span } from "../question/span.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";

/** The period of a delivery: the last one that had ended when the delivery was due, in UTC. */
export type DeliveryPeriod = "day" | "week" | "month";

/** The schedule of a delivery, and the period that it reports. */
export interface DeliverySchedule {
  /** Five fields of cron. */
  readonly schedule: string;
  /** An IANA time zone. */
  readonly timeZone: string;
  readonly period: DeliveryPeriod;
}

/** A period and the time when its delivery is due, milliseconds since the epoch. */
export interface DuePeriod {
  readonly span: Span;
  readonly due: number;
}

/** The due periods of a schedule. */
export interface DuePeriods {
  /**
   * Returns the periods whose deliveries became due between a time and now, oldest first: those of the last 92 days, at most the newest
   * 100.
   */
  owed(since: number, now: number): readonly DuePeriod[];
  /** Returns the next period that will be due after now; undefined if none is due in the next 400 days. */
  next(now: number): DuePeriod | undefined;
}

/** The age at which a due delivery is no longer owed. */
export const OLDEST_MILLIS = 92 * DAY_MILLIS;
const MOST_OWED = 100;
const FURTHEST_MILLIS = 400 * DAY_MILLIS;

/**
 * The longest distance between two moments of a schedule that runs once in each period. It is two hours longer than the period, for changes
 * of the clock.
 */
const LONGEST_MILLIS: Readonly<Record<DeliveryPeriod, number>> = {
  day: DAY_MILLIS + 2 * HOUR_MILLIS,
  week: 7 * DAY_MILLIS + 2 * HOUR_MILLIS,
  month: 31 * DAY_MILLIS + 2 * HOUR_MILLIS,
};

/**
 * Returns the due periods of a schedule. A period is due at the first moment at or after its end, if that moment is before the end of the
 * next period: a schedule for Mondays with the period `day` is of Sundays. When clocks change, 25 hours can lie between two moments of a
 * daily schedule, and a whole UTC day and its end can lie between them. That day is due at the second moment. So every period is due once
 * or not at all, regardless of how often the schedule runs and how often the clock shows its time.
 */
export function duePeriods({ schedule, timeZone, period }: DeliverySchedule): DuePeriods {
  const longest = LONGEST_MILLIS[period];
  const from = (millis: number): number =>
    CronExpressionParser.parse(schedule, { tz: timeZone, currentDate: new Date(millis - 1) })
      .next()
      .getTime();
  /** A cache of moments. The search for one takes a millisecond, and the same moments are needed all the time. */
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

/** The names of the current day, week and month as spans. */
const RUNNING = { day: "today", week: "week", month: "month" } as const;

/** Returns the UTC day, week or month that contains a time, named like {@link periodName}. */
export function periodAt(period: DeliveryPeriod, millis: number): Span {
  const read = readSpan(RUNNING[period], millis);
  if ("error" in read) throw new TypeError(read.error);
  const { from, until } = read.span;
  return { name: periodName({ from, until }), from, until };
}

/** Returns a period in the written form of spans: `2026-03`, `2026-03-14`, `2026-03-09/2026-03-16`. */
export function periodName({ from, until }: Pick<Span, "from" | "until">): string {
  return until - from === DAY_MILLIS ? new Date(from).toISOString().slice(0, 10) : spanText({ from, until });
}
