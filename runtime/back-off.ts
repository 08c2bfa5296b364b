/** Growing pauses between attempts. */
export interface BackOff {
  /** How long to wait before the next attempt, in milliseconds; at least what the other side has asked for. */
  next(retryAfterMillis?: number): number;
  /** An attempt has succeeded: the next failure begins with the first pause again. */
  reset(): void;
}

/** The first pause and the longest one, in milliseconds. Each pause is twice as long as the one before. */
export interface BackOffBounds {
  readonly firstMillis: number;
  readonly longestMillis: number;
  /** Draws each pause from its upper half, so that a thousand clients do not come back in the same second. */
  readonly random?: () => number;
}

/** Pauses that double. */
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
