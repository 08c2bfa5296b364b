import type { Clock } from "../../../runtime/clock.ts";

/** The API server's clock, estimated from its responses. */
export interface ServerClock {
  /** Takes the `Date` header of a response that arrived now, after `tripMillis`. */
  observe(date: string | undefined, tripMillis: number): void;
  /**
   * Returns the current time by the server's clock, milliseconds since the epoch; by this machine's clock while the server's is unknown.
   */
  nowMillis(): number;
  /** How far the server's clock is ahead of this machine's; negative if it is behind. */
  readonly skewMillis: number;
}

/** Differences below this are ignored: a `Date` has whole seconds, and the trip takes time. */
const UNCERTAIN_MILLIS = 2_000;

/** Creates a clock that follows the server's. Small differences are ignored. */
export function createServerClock(clock: Clock): ServerClock {
  let skewMillis = 0;
  return {
    observe(date, tripMillis) {
      const serverMillis = date === undefined ? Number.NaN : Date.parse(date);
      if (Number.isNaN(serverMillis)) return;
      // Compares the middle of the second in `Date` with the middle of the trip.
      const skew = serverMillis + 500 - (clock.nowMillis() - tripMillis / 2);
      skewMillis = Math.abs(skew) < UNCERTAIN_MILLIS + tripMillis ? 0 : Math.round(skew);
    },
    nowMillis: () => clock.nowMillis() + skewMillis,
    get skewMillis() {
      return skewMillis;
    },
  };
}
