/** The number of ended hours that normally wait: the last hour for its last samples, and the hour before for late samples. */
const SETTLING_HOURS = 2;

/** Returns whether too many hours wait to be charged, so that the charges do not represent their time yet. */
export function isBehind(hoursWaiting: readonly number[]): boolean {
  return hoursWaiting.length > SETTLING_HOURS;
}

/** Returns the hours of a time, of the starts of hours. All are milliseconds since the epoch. */
export function hoursIn(
  hours: readonly number[],
  { from, until }: { readonly from: number; readonly until: number },
): readonly number[] {
  return hours.filter((start) => start >= from && start < until);
}
