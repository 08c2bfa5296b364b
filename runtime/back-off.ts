/** A back-off: growing pauses between attempts. */
export interface BackOff {
  /** Returns the pause before the next attempt, in milliseconds; at least the time that the other side requested. */
  next(retryAfterMillis?: number): number;
  /** Resets the back-off after a success. The next failure begins with the first pause again. */
  reset(): void;
}

/** The first and the longest pause, in milliseconds. Each pause is twice as long as the one before. */
export interface BackOffBounds {
  readonly firstMillis: number;
  readonly longestMillis: number;
  /** If set, each pause is drawn from its upper half, so that a thousand clients do not return in the same second. */
  readonly random?: () => number;
}

/** Creates a back-off that doubles its pauses. */
export function createBackOff({ firstMillis, longestMillis, random }: BackOffBounds): BackOff {
  let ceiling = firstMillis;
  return {
    next(retryAfterMillis = 0) {
      const pause = random === undefined ? ceiling : ceiling / 2 + (random() * ceiling) / 2;
      ceiling = Math.min(longestMillis, ceiling * 2);
      return Math.max(retryAfterMillis, Math.round(pause));
    },
    reset() {
      ceiling = firstMillis;
    },
  };
}
