/** The rate at which a total grows, over the last few seconds. */
export interface Rate {
  /** Records the current total. */
  observe(total: number, nowMillis: number): void;
  /** Returns the rate per second over the observations within the window; 0 before two observations. */
  perSecond(): number;
}

/** Creates a rate over a sliding window. */
export function createRate(windowMillis: number): Rate {
  let seen: { readonly total: number; readonly at: number }[] = [];
  return {
    observe(total, at) {
      seen = [...seen.filter((earlier) => at - earlier.at <= windowMillis), { total, at }];
    },
    perSecond() {
      const [first, last] = [seen[0], seen.at(-1)];
      if (first === undefined || last === undefined || last.at <= first.at) return 0;
      return ((last.total - first.total) * 1000) / (last.at - first.at);
    },
  };
}
