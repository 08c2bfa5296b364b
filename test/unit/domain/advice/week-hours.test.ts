import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  HOURS_OF_WEEK,
  readWeekHours,
  weekHourOf,
  weekHoursText,
  type WeekHours,
} from "../../../../domain/advice/week-hours.ts";

const numbers = (hours: WeekHours | undefined) => [...(hours ?? [])].toSorted((a, b) => a - b);

describe("hours of the week", () => {
  it("begin on Monday at midnight in UTC", () => {
    expect(weekHourOf(Date.parse("2026-03-02T00:59:59Z"))).toBe(0);
    expect(weekHourOf(Date.parse("2026-03-04T07:00:00Z"))).toBe(2 * 24 + 7);
    expect(weekHourOf(Date.parse("2026-03-08T23:30:00Z"))).toBe(HOURS_OF_WEEK - 1);
    expect(weekHourOf(0)).toBe(3 * 24);
  });

  it.each([
    ["mon", 24, [0, 23]],
    ["9-10", 7, [9, 153]],
    ["mon-tue 22-2", 8, [0, 47]],
    ["fri-mon 0-1", 4, [0, 144]],
    ["sat-sun, mon-fri 20-7", 48 + 5 * 11, [0, 167]],
    ["20-24", 28, [20, 167]],
  ])("are parsed from %s", (text, count, [first, last]) => {
    const found = numbers(readWeekHours(text));
    expect([found.length, found[0], found.at(-1)]).toEqual([count, first, last]);
  });

  it.each(["", "monday", "mon-", "7", "7-7", "24-3", "3-25", "mon 3", "mon,,tue", "Mon", "mon  20-7 x"])(
    "are refused as %j",
    (text) => {
      expect(readWeekHours(text)).toBeUndefined();
    },
  );

  it("are formatted in the shortest form", () => {
    for (const text of ["20-7", "mon-fri 20-7, sat-sun", "sat-sun", "wed 9-10", "12-13"])
      expect(weekHoursText(readWeekHours(text)!)).toBe(text);
  });

  it("are the same after they were formatted and parsed", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(HOURS_OF_WEEK - 1), { minLength: 1 }), (hours) => {
        expect(numbers(readWeekHours(weekHoursText(new Set(hours))))).toEqual(hours.toSorted((a, b) => a - b));
      }),
    );
  });
});
