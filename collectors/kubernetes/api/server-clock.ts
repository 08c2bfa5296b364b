import type { Clock } from "../../../runtime/clock.ts";

/** The API server's clock, as far as its answers tell. */
export interface ServerClock {
  /** Takes the `Date` of an answer that arrived now, after `tripMillis`. */
  observe(date: string | undefined, tripMillis: number): void;
  /** Now by the server's clock, milliseconds since the epoch; this machine's own as long as nothing is known. */
  nowMillis(): number;
  /** How far the server's clock is ahead of this machine's; behind where negative. */
  readonly skewMillis: number;
}

/** A `Date` has whole seconds and the trip takes time: differences below this say nothing. */
const UNCERTAIN_MILLIS = 2_000;

/** A clock that follows the server's. Small differences are taken for none. */
export function createServerClock(clock: Clock): ServerClock {
  let skewMillis = 0;
  return {
    observe(date, tripMillis) {
      const serverMillis = date === undefined ? Number.NaN : Date.parse(date);
      if (Number.isNaN(serverMillis)) return;
      // The middle of the second that `Date` names, against the middle of the trip.
      const skew = serverMillis + 500 - (clock.nowMillis() - tripMillis / 2);
      skewMillis = Math.abs(skew) < UNCERTAIN_MILLIS + tripMillis ? 0 : Math.round(skew);
    },
    nowMillis: () => clock.nowMillis() + skewMillis,
    get skewMillis() {
      return skewMillis;
    },
  };
}
