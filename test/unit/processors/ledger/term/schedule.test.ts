import { describe, expect, it } from "vitest";
import {
  createSchedule,
  nextLedger,
  SCHEDULE_TIMING,
  type Schedule,
} from "../../../../../processors/ledger/term/schedule.ts";
import { keyOf, type WindowOfCluster } from "../../../../../domain/charge/window-of-cluster.ts";
import { HOUR_MILLIS } from "../../../../../domain/time.ts";

const NOON = Date.UTC(2026, 2, 1, 12);
const running = { cluster: "a", windowStart: NOON };
const hourBefore = (hours: number): { cluster: string; windowStart: number } => ({
  cluster: "a",
  windowStart: NOON - hours * HOUR_MILLIS,
});

/** Computes the newest due window at a cost, and returns its start. */
function compute(schedule: Schedule, now: number, cost = 100): number | undefined {
  const [window] = schedule.next(now);
  if (window === undefined) return undefined;
  schedule.begin(window, now);
  schedule.finish(window, cost);
  return (window.windowStart - NOON) / HOUR_MILLIS;
}

describe("the schedule of windows", () => {
  it("refreshes the running hour once a minute, however often messages touch it", () => {
    const schedule = createSchedule(SCHEDULE_TIMING);
    const computed: number[] = [];
    for (let second = 0; second <= 180; second++) {
      schedule.touch(running, NOON + second * 1000);
      if (compute(schedule, NOON + second * 1000) !== undefined) computed.push(second);
    }
    expect(computed).toEqual([0, 60, 120, 180]);
  });

  it("refreshes it at most once in 400 times the cost of the last refresh", () => {
    const schedule = createSchedule(SCHEDULE_TIMING);
    schedule.touch(running, NOON);
    expect(compute(schedule, NOON, 225)).toBe(0);
    schedule.touch(running, NOON + 1000);
    expect(compute(schedule, NOON + 89_999)).toBeUndefined();
    expect(compute(schedule, NOON + 90_000)).toBe(0);
  });

  it("refreshes it every 20 minutes, at any cost", () => {
    const schedule = createSchedule(SCHEDULE_TIMING);
    schedule.touch(running, NOON);
    expect(compute(schedule, NOON, 60_000)).toBe(0);
    schedule.touch(running, NOON + 1000);
    expect(compute(schedule, NOON + 1_199_999)).toBeUndefined();
    expect(compute(schedule, NOON + 1_200_000)).toBe(0);
  });

  it("computes a finished hour only after 5 s without messages", () => {
    const schedule = createSchedule(SCHEDULE_TIMING);
    schedule.touch(hourBefore(3), NOON);
    schedule.touch(hourBefore(3), NOON + 3_000);
    schedule.touch(hourBefore(3), NOON + 1_000);
    expect(compute(schedule, NOON + 7_999)).toBeUndefined();
    expect(compute(schedule, NOON + 8_000)).toBe(-3);
    expect(schedule.size).toBe(0);
  });

  it("computes an hour with constant messages every five minutes", () => {
    const schedule = createSchedule(SCHEDULE_TIMING);
    const computed: number[] = [];
    for (let second = 0; second <= 900; second += 5) {
      schedule.touch(hourBefore(2), NOON + second * 1000);
      if (compute(schedule, NOON + second * 1000) !== undefined) computed.push(second);
    }
    expect(computed).toEqual([300, 605]);
  });

  it("computes the newest window first, and never an hour that has not begun", () => {
    const schedule = createSchedule(SCHEDULE_TIMING);
    for (const hours of [5, 1, 0, -1]) schedule.touch(hourBefore(hours), NOON);
    const order = [0, 1, 2, 3].map(() => compute(schedule, NOON + 60_000));
    expect(order).toEqual([0, -1, -5, undefined]);
    expect(schedule.size).toBe(1);
    expect(compute(schedule, NOON + HOUR_MILLIS)).toBe(1);
  });

  it("returns the due windows of a cluster together, but for the running hour and those that have failed", () => {
    const schedule = createSchedule(SCHEDULE_TIMING);
    const other = { ...hourBefore(2), cluster: "b" };
    for (const window of [other, ...[4, 0, 3, 1].map(hourBefore)]) schedule.touch(window, NOON);
    schedule.begin(hourBefore(3), NOON);
    schedule.fail(hourBefore(3), NOON);
    const portions: (readonly string[])[] = [];
    for (let due = schedule.next(NOON + 60_000); due.length > 0; due = schedule.next(NOON + 60_000)) {
      for (const window of due) schedule.begin(window, NOON + 60_000);
      portions.push(due.map(keyOf));
    }
    const wanted = [[hourBefore(0)], [hourBefore(1), hourBefore(4)], [other], [hourBefore(3)]];
    expect(portions).toEqual(wanted.map((windows) => windows.map(keyOf)));
  });

  it("counts messages that touch a window during its computation as new", () => {
    const schedule = createSchedule(SCHEDULE_TIMING);
    schedule.touch(hourBefore(1), NOON - 20_000);
    const [window] = schedule.next(NOON) as [WindowOfCluster];
    schedule.begin(window, NOON);
    schedule.touch(window, NOON + 1);
    schedule.finish(window, 5);
    expect(compute(schedule, NOON + 15_001)).toBe(-1);
  });

  it("lists the waiting windows whose hour has ended", () => {
    const schedule = createSchedule(SCHEDULE_TIMING);
    for (const hours of [0, 1, 2]) schedule.touch(hourBefore(hours), NOON + 1);
    expect(schedule.past(NOON + 1).map(({ windowStart }) => windowStart)).toEqual([
      hourBefore(1).windowStart,
      hourBefore(2).windowStart,
    ]);
  });

  it("tries a failed window again after a minute, and computes the others meanwhile", () => {
    const schedule = createSchedule(SCHEDULE_TIMING);
    for (const hours of [1, 2]) schedule.touch(hourBefore(hours), NOON);
    const [window] = schedule.next(NOON + 20_000) as [WindowOfCluster];
    schedule.begin(window, NOON + 20_000);
    schedule.fail(window, NOON + 21_000);
    expect(compute(schedule, NOON + 21_000)).toBe(-2);
    expect(compute(schedule, NOON + 80_999)).toBeUndefined();
    expect(compute(schedule, NOON + 81_000)).toBe(-1);
  });
});

describe("the next ledger of the running hours", () => {
  const TIMING = { ...SCHEDULE_TIMING, ledgerRows: 500, ledgerCostFactor: 10 };
  const minutesUntil = (last: { readonly costMillis: number; readonly rows: number }, at = NOON): number =>
    (nextLedger(TIMING, last, at) - at) / 60_000;

  it("is computed after a minute for every 500 rows of usage, and after at most 20 minutes", () => {
    const rows = [0, 100, 500, 1_000, 8_000, 100_000];
    expect(rows.map((some) => minutesUntil({ costMillis: 1_000, rows: some }))).toEqual([1, 1, 1, 2, 16, 20]);
  });

  it("is computed after ten times the duration of the last one if that is longer, and after at most 20 minutes", () => {
    const costs = [6_000, 30_000, 120_000, 300_000];
    expect(costs.map((costMillis) => minutesUntil({ costMillis, rows: 500 }))).toEqual([1, 5, 20, 20]);
  });

  it("is computed a minute after the hour ends, because the next hour is short", () => {
    const at = NOON + 55 * 60_000;
    const rows = [100, 1_000, 8_000];
    expect(rows.map((some) => minutesUntil({ costMillis: 1_000, rows: some }, at))).toEqual([1, 2, 6]);
  });
});
