import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hoursTouched, reachMillis } from "../../../../../processors/ledger/runs/window.ts";
import { HOUR_MILLIS, hourOf } from "../../../../../domain/time.ts";

const NOON = Date.UTC(2026, 2, 1, 12);

describe("the reach of a sample", () => {
  it("is two and a half intervals, in whole milliseconds", () => {
    expect([30_000, 15_001, 0].map(reachMillis)).toEqual([75_000, 37_502, 0]);
  });

  it("is limited if an interval is out of range", () => {
    expect(reachMillis(4_294_967_295)).toBe(9_000_000);
  });
});

describe("the hours that a scrape touches", () => {
  it("are its own in the middle of the hour, and two at the hour's edges", () => {
    const hours = (offset: number): readonly number[] => hoursTouched(NOON + offset, 30_000);
    expect(hours(1_800_000)).toEqual([NOON]);
    expect(hours(75_000)).toEqual([NOON]);
    expect(hours(74_999)).toEqual([NOON - HOUR_MILLIS, NOON]);
    expect(hours(HOUR_MILLIS - 75_001)).toEqual([NOON]);
    expect(hours(HOUR_MILLIS - 75_000)).toEqual([NOON, NOON + HOUR_MILLIS]);
  });

  it("are all hours within its reach if the interval is an hour", () => {
    expect(hoursTouched(NOON, HOUR_MILLIS)).toEqual([-3, -2, -1, 0, 1, 2].map((hour) => NOON + hour * HOUR_MILLIS));
  });

  it("are exactly the hours that overlap the time that the scrape can change", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1e12, max: 2e12 }), fc.integer({ min: 1, max: HOUR_MILLIS }), (at, interval) => {
        const reach = reachMillis(interval);
        const hours = hoursTouched(at, interval);
        expect(hours[0]).toBe(hourOf(at - reach));
        expect(hours.at(-1)).toBe(hourOf(at + reach));
        expect(hours.every((hour, index) => index === 0 || hour - hours[index - 1]! === HOUR_MILLIS)).toBe(true);
      }),
    );
  });
});
