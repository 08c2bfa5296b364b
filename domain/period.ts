/** A billing period: a UTC calendar month. */
export interface BillingPeriod {
  /** The name of the month: `2026-03`. */
  readonly name: string;
  /** Milliseconds since the epoch, half-open. */
  readonly from: number;
  readonly until: number;
}

/** The form that {@link readPeriod} accepts, for error messages. */
export const PERIOD_FORM = "a month, such as 2026-03";

/** Returns the billing period that a text names; undefined if the text is not a month. */
export function readPeriod(text: string): BillingPeriod | undefined {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return undefined;
  const [year, month] = text.split("-").map(Number) as [number, number];
  return periodOf(Date.UTC(year, month - 1, 1));
}

/** Returns the billing period that contains a time in milliseconds since the epoch. */
export function periodOf(millis: number): BillingPeriod {
  const date = new Date(millis);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const from = Date.UTC(year, month, 1);
  return { name: new Date(from).toISOString().slice(0, 7), from, until: Date.UTC(year, month + 1, 1) };
}

/**
 * Returns the time from which a period can be closed, milliseconds since the epoch: a day of the next month, because data can be late
 * (docs/closing.md). The period stays open until an administrator closes it.
 */
export function closesFrom({ until }: BillingPeriod, closingDay: number): number {
  const next = new Date(until);
  return Date.UTC(next.getUTCFullYear(), next.getUTCMonth(), closingDay);
}

/** Returns the last period whose closing date has come at a time. */
export function lastDue(nowMillis: number, closingDay: number): BillingPeriod {
  let period = periodOf(nowMillis);
  while (closesFrom(period, closingDay) > nowMillis) period = periodOf(period.from - 1);
  return period;
}

/** Returns the periods from `first` on whose closing date has come, oldest first. */
export function periodsDue(first: BillingPeriod, nowMillis: number, closingDay: number): readonly BillingPeriod[] {
  const due: BillingPeriod[] = [];
  for (let period = first; closesFrom(period, closingDay) <= nowMillis; period = periodOf(period.until))
    due.push(period);
  return due;
}

/** Returns the UTC day of a time in the store's format: `2026-03-01`. */
export function dateText(millis: number): string {
  return new Date(millis).toISOString().slice(0, 10);
}
