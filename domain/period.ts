/**
 * The beginning of the oldest billing period that is open, milliseconds since the epoch: periods are UTC calendar months, and one
 * closes on a day of the next month, as its data can be late.
 */
export function openSince(nowMillis: number, closingDay: number): number {
  const now = new Date(nowMillis);
  const isLastOpen = now.getUTCDate() < closingDay;
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - (isLastOpen ? 1 : 0), 1);
}
