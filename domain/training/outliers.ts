/** A value below the median by more than this number of median absolute deviations is slow. */
const DEVIATIONS = 3.5;
/** A value that is less than this part below the median is not slow, however close to each other the others are. */
const LEAST_PART = 0.03;
/** The fewest devices of a gang. */
const LEAST_DEVICES = 4;
/** The fewest slow hours of a straggler, which are also at least half of its hours. */
export const LEAST_HOURS = 3;

/** A device of an hour that is far below the others, and its value divided by their median. */
export interface Slow<Of> {
  readonly of: Of;
  readonly ratio: number;
}

/** Returns the devices of an hour whose value is far below the median of all; none if the gang is too small. */
export function slowIn<Of>(all: readonly Of[], valueOf: (of: Of) => number | undefined): readonly Slow<Of>[] {
  const given = all.flatMap((of) => {
    const value = valueOf(of);
    return value === undefined ? [] : [{ of, value }];
  });
  if (given.length < LEAST_DEVICES) return [];
  const median = medianOf(given.map(({ value }) => value))!;
  const deviation = medianOf(given.map(({ value }) => Math.abs(value - median)))!;
  const limit = Math.min(median - DEVIATIONS * deviation, median * (1 - LEAST_PART));
  return given.flatMap(({ of, value }) => (value < limit ? [{ of, ratio: value / median }] : []));
}

/** Returns the median of values; undefined without a value. */
export function medianOf(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
