/** A billing period: a UTC calendar month. */
export interface BillingPeriod {
  /** `2026-03`. */
  readonly name: string;
  /** Milliseconds since the epoch, half-open. */
  readonly from: number;
  readonly until: number;
}

/** What {@link readPeriod} reads, for the sentences of errors. */
export const PERIOD_FORM = "a month, such as 2026-03";

/** The billing period that a text names; undefined where it names none. */
export function readPeriod(text: string): BillingPeriod | undefined {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return undefined;
  const [year, month] = text.split("-").map(Number) as [number, number];
  return periodOf(Date.UTC(year, month - 1, 1));
}

/** The billing period that a time is in. */
export function periodOf(millis: number): BillingPeriod {
  const date = new Date(millis);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const from = Date.UTC(year, month, 1);
  return { name: new Date(from).toISOString().slice(0, 7), from, until: Date.UTC(year, month + 1, 1) };
}

/**
 * From when on a period can be closed, milliseconds since the epoch: on a day of the next month, as its data can be late (ledger,
 * "Closing"). It stays open until somebody closes it.
 */
export function closesFrom({ until }: BillingPeriod, closingDay: number): number {
  const next = new Date(until);
  return Date.UTC(next.getUTCFullYear(), next.getUTCMonth(), closingDay);
}

/** The periods from one on whose closing date has come, the oldest first. */
export function periodsDue(first: BillingPeriod, nowMillis: number, closingDay: number): readonly BillingPeriod[] {
  const due: BillingPeriod[] = [];
  for (let period = first; closesFrom(period, closingDay) <= nowMillis; period = periodOf(period.until))
    due.push(period);
  return due;
}

/** The UTC day of a time as the store writes it: `2026-03-01`. */
export function dateText(millis: number): string {
  return new Date(millis).toISOString().slice(0, 10);
}
