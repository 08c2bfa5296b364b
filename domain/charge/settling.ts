/** So many hours that are over wait at any time: the last one for its last samples, and the one before where some come late. */
const SETTLING_HOURS = 2;

/** Whether so many hours wait to be charged that what is charged tells too little of the month. */
export function isBehind(hoursWaiting: number): boolean {
  return hoursWaiting > SETTLING_HOURS;
}
