import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";

/** One hour of one cluster. */
export interface WindowOfCluster {
  readonly cluster: string;
  /** Milliseconds since the epoch. */
  readonly windowStart: number;
}

/** When a window that has changed is computed again. */
export interface ScheduleTiming {
  /** The running hour is refreshed every so often, */
  readonly refreshMillis: number;
  /** or every so many times what its last refresh cost, whichever is longer, */
  readonly refreshCostFactor: number;
  /** but no longer than this. */
  readonly longestRefreshMillis: number;
  /** A finished hour waits until nothing has come for so long, as late data comes in crowds, */
  readonly quietMillis: number;
  /** but no longer than this since it changed first. */
  readonly longestWaitMillis: number;
  /** After a failure. */
  readonly retryMillis: number;
}

/** What the service runs with. */
export const SCHEDULE_TIMING: ScheduleTiming = {
  refreshMillis: 60_000,
  refreshCostFactor: 400,
  longestRefreshMillis: 1_200_000,
  quietMillis: 15_000,
  longestWaitMillis: 300_000,
  retryMillis: 60_000,
};

/** When the ledger of the hours that run is made again. */
export interface LedgerTiming extends Pick<ScheduleTiming, "refreshMillis" | "longestRefreshMillis"> {
  /** Every `refreshMillis` where it has so many rows of usage, in proportion less often where it has more, */
  readonly ledgerRows: number;
  /** or every so many times what it took last, whichever is longer, but no longer than `longestRefreshMillis`. */
  readonly ledgerCostFactor: number;
}

/**
 * When the ledger of the hours that run is made again after one that took so long and has so many rows, in milliseconds since the
 * epoch. What a long hour took at its end says nothing of the next one, which is short: that one is begun within `refreshMillis`.
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

/** Windows that have changed, and which of them is to be computed next. Time is a parameter of everything. */
export interface Schedule {
  /** Windows that wait, those that are not due yet included. */
  readonly size: number;
  /** Of them those whose hour is over. */
  past(nowMillis: number): readonly WindowOfCluster[];
  /** New input touches a window. */
  touch(window: WindowOfCluster, nowMillis: number): void;
  /** The newest window that is due. It stays until `begin`. */
  next(nowMillis: number): WindowOfCluster | undefined;
  /** It is being computed: what touches it from now on counts anew. */
  begin(window: WindowOfCluster, nowMillis: number): void;
  /** It was published, at this cost. */
  finish(window: WindowOfCluster, costMillis: number): void;
  /** It was not published, and waits for another attempt. */
  fail(window: WindowOfCluster, nowMillis: number): void;
}

interface Waiting extends WindowOfCluster {
  readonly dirtySince: number;
  readonly touchedAt: number;
  readonly notBefore: number;
}

/** A schedule with nothing in it. */
export function createSchedule(timing: ScheduleTiming): Schedule {
  const waiting = new Map<string, Waiting>();
  /** The last refresh of each hour that runs. */
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
    touch({ cluster, windowStart }, now) {
      const key = keyOf({ cluster, windowStart });
      const { dirtySince = now, notBefore = 0 } = waiting.get(key) ?? {};
      waiting.set(key, { cluster, windowStart, dirtySince, touchedAt: now, notBefore });
    },
    next(now) {
      let newest: Waiting | undefined;
      for (const [key, window] of waiting) {
        if (isDue(key, window, now) && (newest === undefined || window.windowStart > newest.windowStart))
          newest = window;
      }
      return newest;
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

/** A name for a window, to find it by. */
export function keyOf({ cluster, windowStart }: WindowOfCluster): string {
  return `${windowStart} ${cluster}`;
}
