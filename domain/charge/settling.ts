import { HOUR_MILLIS, hourOf } from "../time.ts";
import { byWindow, keyOf, type WindowOfCluster } from "./window-of-cluster.ts";

/** The number of ended hours that normally wait: the last hour for its last samples, and the hour before for late samples. */
const SETTLING_HOURS = 2;

/** Returns whether too many hours wait to be charged, so that the charges do not represent their time yet. */
export function isBehind(hoursWaiting: readonly number[]): boolean {
  return hoursWaiting.length > SETTLING_HOURS;
}

/** Returns the hours of a time, of the starts of hours. All are milliseconds since the epoch. */
export function hoursIn(
  hours: readonly number[],
  { from, until }: { readonly from: number; readonly until: number },
): readonly number[] {
  return hours.filter((start) => start >= from && start < until);
}

/** A cluster's time in the books: since when it is watched or scraped, and until when anything is known to exist. */
export interface ClusterLife {
  readonly cluster: string;
  /** Milliseconds since the epoch. */
  readonly begun: number;
  readonly over: number;
}

/** Returns the hours of a span that the lives of clusters have and that were not made, oldest first. */
export function missingHours(
  lives: readonly ClusterLife[],
  made: readonly WindowOfCluster[],
  span: { readonly from: number; readonly until: number },
): readonly WindowOfCluster[] {
  const known = new Set(made.map(keyOf));
  return lives
    .flatMap(({ cluster, begun, over }) => {
      const first = Math.max(span.from, hourOf(begun));
      const count = Math.max(0, Math.ceil((Math.min(span.until, over) - first) / HOUR_MILLIS));
      return Array.from({ length: count }, (_, hour) => ({ cluster, windowStart: first + hour * HOUR_MILLIS }));
    })
    .filter((hour) => !known.has(keyOf(hour)))
    .toSorted(byWindow);
}
