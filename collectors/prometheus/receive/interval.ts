import { HOUR_MILLIS } from "../../../domain/time.ts";

/** The most differences that count. */
const MOST = 8;
/** From here on the median counts. */
const ENOUGH = 3;
const SECOND = 1_000;
const GRID_BELOW_SECOND = 100;
const LONGEST = HOUR_MILLIS;
/** A difference to whole seconds that is jitter. */
const JITTER = 0.05;

/** An estimate of the interval of a target's scrapes. */
export interface IntervalEstimate {
  /** The estimate in milliseconds. It stays equal while times differ by jitter only. */
  readonly millis: number;
  /** Adds the time between two scrapes. */
  add(differenceMillis: number): void;
}

/** Creates an estimate that starts with an earlier one. */
export function createIntervalEstimate(firstMillis: number): IntervalEstimate {
  const differences: number[] = [];
  let millis = firstMillis;
  return {
    get millis() {
      return millis;
    },
    add(difference) {
      if (difference <= 0 || difference > LONGEST) return;
      differences.push(difference);
      if (differences.length > MOST) differences.shift();
      if (differences.length < ENOUGH) return;
      millis = snapped(differences.toSorted((left, right) => left - right)[Math.floor(differences.length / 2)]!);
    },
  };
}

function snapped(millis: number): number {
  const whole = Math.round(millis / SECOND) * SECOND;
  if (whole > 0 && Math.abs(millis - whole) <= JITTER * whole) return whole;
  return Math.max(GRID_BELOW_SECOND, Math.round(millis / GRID_BELOW_SECOND) * GRID_BELOW_SECOND);
}
