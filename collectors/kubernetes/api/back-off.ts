/** Growing pauses between attempts, with jitter, so that a thousand watchers do not come back in the same second. */
export interface BackOff {
  /** How long to wait before the next attempt, at least what the server asked for. */
  next(retryAfterMillis?: number): number;
  /** Something worked: the next failure begins anew. */
  reset(): void;
}

const FIRST_MILLIS = 800;
const LONGEST_MILLIS = 30_000;

/** Client-go's reflector begins with 0.8 s and doubles up to 30 s; each pause is drawn from its upper half. */
export function createBackOff(random: () => number = Math.random): BackOff {
  let ceiling = FIRST_MILLIS;
  return {
    next(retryAfterMillis = 0) {
      const pause = ceiling / 2 + (random() * ceiling) / 2;
      ceiling = Math.min(LONGEST_MILLIS, ceiling * 2);
      return Math.max(retryAfterMillis, Math.round(pause));
    },
    reset() {
      ceiling = FIRST_MILLIS;
    },
  };
}
