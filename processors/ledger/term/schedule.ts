import { keyOf, type WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";

/** The timing for the recomputation of changed windows. */
export interface ScheduleTiming {
  /** The shortest time between two refreshes of the running hour. */
  readonly refreshMillis: number;
  /** The refresh interval is at least this multiple of the last refresh's cost. */
  readonly refreshCostFactor: number;
  /** The upper limit of the wait that the cost adds. */
  readonly longestRefreshMillis: number;
  /** A finished hour is due when no input has come for this time, because late data comes in bursts. */
  readonly quietMillis: number;
  /** A finished hour is due at the latest this time after its first change. */
  readonly longestWaitMillis: number;
  /** The wait after a failure. */
  readonly retryMillis: number;
}

/** The timing of the service. */
export const SCHEDULE_TIMING: ScheduleTiming = {
  refreshMillis: 60_000,
  refreshCostFactor: 400,
  longestRefreshMillis: 1_200_000,
  quietMillis: 5_000,
  longestWaitMillis: 300_000,
  retryMillis: 60_000,
};

/** The timing for the recomputation of the ledger of running hours. */
export interface LedgerTiming extends Pick<ScheduleTiming, "refreshMillis" | "longestRefreshMillis"> {
  /** With this many rows of usage, the interval is `refreshMillis`. With more rows it grows in proportion. */
  readonly ledgerRows: number;
  /** The interval is at least this multiple of the last cost, limited by `longestRefreshMillis`. */
  readonly ledgerCostFactor: number;
}

/**
 * Returns when the ledger of the running hours is computed next, milliseconds since the epoch, from the cost and the rows of the last
 * computation. A long hour's cost at its end does not predict the next hour, which is short: that one begins within `refreshMillis`.
 */
export function nextLedger(
  { refreshMillis, longestRefreshMillis, ledgerRows, ledgerCostFactor }: LedgerTiming,
  last: { readonly costMillis: number; readonly rows: number },
  nowMillis: number,
): number {
  const rest = Math.max((refreshMillis * last.rows) / ledgerRows, ledgerCostFactor * last.costMillis);
  const next = nowMillis + Math.max(refreshMillis, Math.min(rest, longestRefreshMillis));
  return Math.min(next, hourOf(nowMillis) + HOUR_MILLIS + refreshMillis);
}

/** A schedule of changed windows. It decides which window is computed next. Time is always a parameter. */
export interface Schedule {
  /** The number of waiting windows, those that are not due yet included. */
  readonly size: number;
  /** Returns the waiting windows whose hour has ended. */
  past(nowMillis: number): readonly WindowOfCluster[];
  /** Marks a window as changed by new input that came at a time. */
  touch(window: WindowOfCluster, atMillis: number): void;
  /** Adds a window without new input, unless it waits already. */
  add(window: WindowOfCluster, nowMillis: number): void;
  /**
   * Returns the newest window that is due, and the other due windows of its cluster, newest first. The running hour comes alone, because it
   * is refreshed by its own cost, and so does a window that has failed, so that it cannot make others fail. The windows stay in the schedule
   * until `begin`.
   */
  next(nowMillis: number): readonly WindowOfCluster[];
  /** Marks the start of a computation. A later `touch` schedules the window again. */
  begin(window: WindowOfCluster, nowMillis: number): void;
  /** Records that the window was published, and its cost. */
  finish(window: WindowOfCluster, costMillis: number): void;
  /** Records that the window was not published. It waits for another attempt. */
  fail(window: WindowOfCluster, nowMillis: number): void;
}

interface Waiting extends WindowOfCluster {
  readonly dirtySince: number;
  readonly touchedAt: number;
  readonly notBefore: number;
}

/** Creates an empty schedule. */
export function createSchedule(timing: ScheduleTiming): Schedule {
  const waiting = new Map<string, Waiting>();
  /** The last refresh of each running hour. */
  const refreshes = new Map<string, { readonly window: WindowOfCluster; readonly at: number; readonly cost: number }>();

  function isDue(key: string, window: Waiting, now: number): boolean {
    if (now < window.notBefore || now < window.windowStart) return false;
    if (now >= window.windowStart + HOUR_MILLIS) {
      return now - window.touchedAt >= timing.quietMillis || now - window.dirtySince >= timing.longestWaitMillis;
    }
    const last = refreshes.get(key);
    if (last === undefined) return true;
    const wait = Math.min(timing.refreshCostFactor * last.cost, timing.longestRefreshMillis);
    return now - last.at >= Math.max(timing.refreshMillis, wait);
  }

  return {
    get size() {
      return waiting.size;
    },
    past: (now) => [...waiting.values()].filter(({ windowStart }) => now >= windowStart + HOUR_MILLIS),
    add(window, now) {
      if (!waiting.has(keyOf(window))) this.touch(window, now);
    },
    touch({ cluster, windowStart }, at) {
      const key = keyOf({ cluster, windowStart });
      const { dirtySince = at, touchedAt = at, notBefore = 0 } = waiting.get(key) ?? {};
      waiting.set(key, { cluster, windowStart, dirtySince, touchedAt: Math.max(touchedAt, at), notBefore });
    },
    next(now) {
      const due = [...waiting].filter(([key, window]) => isDue(key, window, now)).map(([, window]) => window);
      const [newest, ...others] = due.toSorted((a, b) => b.windowStart - a.windowStart);
      if (newest === undefined) return [];
      if (newest.notBefore > 0 || now < newest.windowStart + HOUR_MILLIS) return [newest];
      return [newest, ...others.filter(({ cluster, notBefore }) => cluster === newest.cluster && notBefore === 0)];
    },
    begin(window, now) {
      const key = keyOf(window);
      waiting.delete(key);
      for (const [
        other,
        {
          window: { windowStart },
        },
      ] of refreshes) {
        if (now >= windowStart + HOUR_MILLIS) refreshes.delete(other);
      }
      if (now < window.windowStart + HOUR_MILLIS) refreshes.set(key, { window, at: now, cost: 0 });
    },
    finish(window, cost) {
      const key = keyOf(window);
      const refresh = refreshes.get(key);
      if (refresh !== undefined) refreshes.set(key, { ...refresh, cost });
    },
    fail({ cluster, windowStart }, now) {
      const key = keyOf({ cluster, windowStart });
      const { dirtySince = now, touchedAt = now } = waiting.get(key) ?? {};
      waiting.set(key, { cluster, windowStart, dirtySince, touchedAt, notBefore: now + timing.retryMillis });
    },
  };
}
