/** A set of the hours of a span, by their numbers: one bit for each hour, 32 bits to a word. */
export type HourSet = Uint32Array;

const BITS = 32;

/** Creates an empty set for a span of this number of hours. Sets of one span can be compared. */
export function createHourSet(span: number): HourSet {
  return new Uint32Array(Math.ceil(span / BITS));
}

/** Creates an empty set for the span of another one. */
export function emptyHours(like: HourSet): HourSet {
  return new Uint32Array(like.length);
}

/** Adds an hour. */
export function addHour(set: HourSet, hour: number): void {
  set[Math.floor(hour / BITS)]! |= 1 << (hour % BITS);
}

/** Returns true if a set has an hour. */
export function hasHour(set: HourSet, hour: number): boolean {
  return (set[Math.floor(hour / BITS)]! & (1 << (hour % BITS))) !== 0;
}

/** Adds all hours of another set. */
export function addHours(set: HourSet, other: HourSet): void {
  other.forEach((word, index) => (set[index]! |= word));
}

/** Removes all hours of another set. */
export function removeHours(set: HourSet, other: HourSet): void {
  other.forEach((word, index) => (set[index]! &= ~word));
}

/** Returns true if a set has every hour of another set. */
export function hasHours(set: HourSet, other: HourSet): boolean {
  return other.every((word, index) => (word & ~set[index]!) === 0);
}

/** Returns true if two sets have an hour in common. */
export function haveCommonHour(one: HourSet, other: HourSet): boolean {
  return one.some((word, index) => (word & other[index]!) !== 0);
}

/** Returns the number of hours of a set. */
export function countHours(set: HourSet): number {
  let count = 0;
  // Each step removes the lowest bit of a word.
  for (const word of set) for (let rest = word; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
