import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFleet } from "../../../../demo/fleet/fleet.ts";
import { chunksOf, gridTimes, missingPast, mostRowsOf, thinnedInterval } from "../../../../demo/history/plan.ts";
import { mergeRanges, missingRanges, type Range } from "../../../../demo/history/ranges.ts";
import { rounds } from "../../../support/rounds.ts";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../../../../domain/time.ts";

const NOON = Date.UTC(2026, 5, 2, 12);

const range = fc.tuple(fc.nat(1000), fc.nat(1000)).map(([a, b]): Range => [Math.min(a, b), Math.max(a, b)]);
const inside = (ranges: readonly Range[], at: number): boolean =>
  ranges.some(([from, until]) => from <= at && at < until);

describe("stretches of time", () => {
  test("are missing exactly inside the whole and outside of the covered ones", () => {
    fc.assert(
      fc.property(range, fc.array(range), fc.nat(1000), (whole, covered, at) => {
        const missing = missingRanges(whole, covered);
        expect(inside(missing, at)).toBe(inside([whole], at) && !inside(covered, at));
      }),
      { numRuns: rounds(2000) },
    );
  });

  test("stay the same when they are merged, with gaps between them", () => {
    fc.assert(
      fc.property(fc.array(range), fc.nat(1000), (ranges, at) => {
        const merged = mergeRanges(ranges);
        expect(inside(merged, at)).toBe(inside(ranges, at));
        for (let i = 1; i < merged.length; i++) expect(merged[i]![0]).toBeGreaterThan(merged[i - 1]![1]);
      }),
    );
  });
});

describe("the plan of a history", () => {
  test.each([
    [96, 5],
    [960, 60],
  ])("of a week of %i GPUs is thinned to %i minutes", (gpus, minutes) => {
    const fleet = createFleet({ seed: 1, gpus });
    expect(thinnedInterval(fleet, 7 * DAY_MILLIS)).toBe(minutes * 60_000);
  });

  test.each([8, 96, 200, 1000])("of %i GPUs has at most 400,000 rows", (gpus) => {
    const fleet = createFleet({ seed: 1, gpus });
    const rows = fleet.nodes.reduce((sum, node) => sum + mostRowsOf(node), 0);
    const passes = gridTimes([NOON - 7 * DAY_MILLIS, NOON], thinnedInterval(fleet, 7 * DAY_MILLIS)).length;
    expect(rows * passes).toBeLessThanOrEqual(400_000);
  });

  test("goes from the newest day to the oldest, and forward within a day", () => {
    const range: Range = [NOON - 2 * DAY_MILLIS + 60_000, NOON - 60_000];
    const chunks = chunksOf({ range, intervalMillis: 5 * MINUTE_MILLIS });
    expect(chunks[0]).toEqual([NOON - 12 * HOUR_MILLIS, NOON - 11 * HOUR_MILLIS]);
    expect(chunks[11]).toEqual([NOON - HOUR_MILLIS, NOON - 60_000]);
    expect(chunks[12]).toEqual([NOON - 36 * HOUR_MILLIS, NOON - 35 * HOUR_MILLIS]);
    expect(chunks.at(-1)).toEqual([NOON - 37 * HOUR_MILLIS, NOON - 36 * HOUR_MILLIS]);
    const ofHalfDays = chunksOf({ range, intervalMillis: HOUR_MILLIS });
    expect(ofHalfDays.slice(0, 2)).toEqual([
      [NOON - 12 * HOUR_MILLIS, NOON - 60_000],
      [NOON - 36 * HOUR_MILLIS, NOON - 24 * HOUR_MILLIS],
    ]);
  });

  test.each([0.5, 2, 5, 20, 60])("has each time of a grid of %d minutes in one chunk", (minutes) => {
    const intervalMillis = minutes * MINUTE_MILLIS;
    const range: Range = [NOON - 50 * HOUR_MILLIS + 1234, NOON + 777];
    const times = chunksOf({ range, intervalMillis }).flatMap((chunk) => gridTimes(chunk, intervalMillis));
    expect(times.toSorted((a, b) => a - b)).toEqual(gridTimes(range, intervalMillis));
  });

  test("has the recent past first, then an older one with one scrape an hour, without what is known", () => {
    const fleet = createFleet({ seed: 1, gpus: 96 });
    const past = { fromMillis: NOON - 40 * DAY_MILLIS, recentMillis: 8 * DAY_MILLIS, nowMillis: NOON };
    const known: Range[] = [
      [NOON - 10 * DAY_MILLIS, NOON - 7 * DAY_MILLIS],
      [NOON - HOUR_MILLIS, NOON],
    ];
    expect(missingPast(fleet, past, known)).toEqual([
      { range: [NOON - 7 * DAY_MILLIS, NOON - HOUR_MILLIS], intervalMillis: 5 * MINUTE_MILLIS },
      { range: [NOON - 40 * DAY_MILLIS, NOON - 10 * DAY_MILLIS], intervalMillis: HOUR_MILLIS },
    ]);
    const short = { ...past, fromMillis: NOON - DAY_MILLIS };
    expect(missingPast(fleet, short, []).map(({ range }) => range)).toEqual([[NOON - 8 * DAY_MILLIS, NOON]]);
  });
});
