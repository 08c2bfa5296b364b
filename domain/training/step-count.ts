/** The number of spans at each time. */
export interface StepCount {
  /** The times at which the number changes, in order. */
  readonly times: readonly number[];
  /** Returns the number of spans that contain a time. */
  at(time: number): number;
}

/** Counts half-open spans. A span whose end is not after its begin counts nowhere. */
export function countSpans(spans: readonly { readonly from: number; readonly until: number }[]): StepCount {
  const changes = new Map<number, number>();
  for (const { from, until } of spans) {
    if (until <= from) continue;
    changes.set(from, (changes.get(from) ?? 0) + 1);
    changes.set(until, (changes.get(until) ?? 0) - 1);
  }
  const times = [...changes.keys()].sort((a, b) => a - b);
  let count = 0;
  const counts = times.map((time) => (count += changes.get(time)!));
  return { times, at: (time) => counts[firstAfter(times, time) - 1] ?? 0 };
}

/** Returns the index of the first sorted time that is later than a time; the number of times if none is. */
export function firstAfter(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
