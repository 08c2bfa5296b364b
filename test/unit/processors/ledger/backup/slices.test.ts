import { describe, expect, it } from "vitest";
import { slicesOf, type HourOfRows } from "../../../../../processors/ledger/backup/slices.ts";
import { HOUR_MILLIS } from "../../../../../domain/time.ts";

const APRIL = Date.UTC(2026, 3, 1);

/** An hour with a run, `index` hours after the beginning of April or before it. */
function hour(index: number, rows: number): HourOfRows {
  return { at: APRIL + index * HOUR_MILLIS, rows, runs: [`run ${index}`] };
}

describe("the slices of a backup", () => {
  it("have the newest hours first, at most the permitted number of rows, and the runs of their hours", () => {
    expect(slicesOf([hour(0, 4), hour(2, 4), hour(3, 4)], { rows: 8, runs: 10 })).toEqual([
      { from: APRIL + 2 * HOUR_MILLIS, until: APRIL + 4 * HOUR_MILLIS, files: 1, runs: ["run 3", "run 2"] },
      { from: APRIL, until: APRIL + HOUR_MILLIS, files: 1, runs: ["run 0"] },
    ]);
  });

  it("have at most the permitted number of runs", () => {
    expect(slicesOf([hour(0, 1), hour(1, 1), hour(2, 1)], { rows: 8, runs: 2 }).map(({ runs }) => runs)).toEqual([
      ["run 2", "run 1"],
      ["run 0"],
    ]);
  });

  it("divide an hour that is too large for one file", () => {
    expect(slicesOf([hour(0, 17), hour(1, 1)], { rows: 8, runs: 2 }).map(({ files }) => files)).toEqual([1, 3]);
  });

  it("end with their month, because an insert touches few partitions", () => {
    expect(slicesOf([hour(-1, 1), hour(0, 1)], { rows: 8, runs: 2 }).map(({ from, until }) => [from, until])).toEqual([
      [APRIL, APRIL + HOUR_MILLIS],
      [APRIL - HOUR_MILLIS, APRIL],
    ]);
  });

  it("do not exist for a table without rows", () => {
    expect(slicesOf([], { rows: 8, runs: 2 })).toEqual([]);
  });
});
