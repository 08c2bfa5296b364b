/** A stretch of time, `[from, until)`, milliseconds since the epoch. */
export type Range = readonly [from: number, until: number];

/** Returns the same time in the fewest stretches, oldest first. */
export function mergeRanges(ranges: readonly Range[]): readonly Range[] {
  const merged: [number, number][] = [];
  for (const [from, until] of ranges.filter((range) => range[0] < range[1]).toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], until);
    else merged.push([from, until]);
  }
  return merged;
}

/** Returns the parts of a stretch that are in none of the others, oldest first. */
export function missingRanges([from, until]: Range, covered: readonly Range[]): readonly Range[] {
  const missing: Range[] = [];
  let at = from;
  for (const [start, end] of mergeRanges(covered)) {
    if (start >= until) break;
    if (start > at) missing.push([at, start]);
    at = Math.max(at, end);
  }
  if (at < until) missing.push([at, until]);
  return missing;
}
