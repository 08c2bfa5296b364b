/** The number of ended hours that normally wait: the last hour for its last samples, and the hour before for late samples. */
const SETTLING_HOURS = 2;

/** Returns whether too many hours wait to be charged, so that the charges do not represent the month yet. */
export function isBehind(hoursWaiting: number): boolean {
  return hoursWaiting > SETTLING_HOURS;
}
