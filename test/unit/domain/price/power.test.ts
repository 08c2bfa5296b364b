import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, exactDecimal, rational, type Rational } from "../../../../domain/exact/rational.ts";
import type { OwnedEntry } from "../../../../domain/price/book.ts";
import { powerOfGpu } from "../../../../domain/price/power.ts";
import { bookOf } from "./book-of.ts";
import { HOUR_MILLIS as HOUR } from "../../../../domain/time.ts";

const START = Date.UTC(2026, 2, 2);
const TERMS = { inService: "2026-01-01", purchase: "1000", months: 48, kWhPrice: "0.20", pue: "1.5", watts: 1000 };

/** A machine of two GPUs for an hour, at 0.30 per kWh including overhead. */
function book(owned: object = {}, others: object = {}) {
  return bookOf({ prices: [{ match: {}, from: "2026-01-01", owned: { ...TERMS, ...owned }, ...others }], ...rates });
}
const rates = {
  rates: [
    { from: "2026-01-01", currency: "EUR", rate: "1.10" },
    { from: "2026-03-02T00:30:00Z", currency: "EUR", rate: "1.20" },
  ],
};

function segment(from: number, until: number, millijoules: bigint, coveredMillis = until - from) {
  return { fromMillis: START + from, untilMillis: START + until, energy: { millijoules, coveredMillis } };
}

function exactCost(
  of: ReturnType<typeof book>,
  segments: Parameters<typeof powerOfGpu>[1],
  span: readonly [number, number] = [0, HOUR],
) {
  const asked = { span: { fromMillis: START + span[0], untilMillis: START + span[1] }, delivered: 2 };
  return powerOfGpu(of.prices[0] as OwnedEntry, segments, asked, of);
}

function cost(...asked: Parameters<typeof exactCost>): string | undefined {
  const exact = exactCost(...asked);
  return exact === undefined ? undefined : exactDecimal(exact, 9);
}

/** 300 W for an hour: 0.3 kWh. */
const MEASURED = segment(0, HOUR, 1_080_000_000n);

describe("the power of an owned machine's GPU", () => {
  it("costs its measured energy", () => {
    expect(cost(book(), [MEASURED])).toBe("0.09");
  });

  it("costs its part of the machine's watts for the time without measurements, or nothing if the entry has no watts", () => {
    // A quarter of an hour is not measured: 500 W × 0.25 h = 0.125 kWh = 0.0375, beside 0.225 kWh = 0.0675.
    const partly = segment(0, HOUR, 810_000_000n, (HOUR * 3) / 4);
    expect(cost(book(), [partly])).toBe("0.105");
    expect(cost(book({ watts: undefined }), [partly])).toBe("0.0675");
    expect(cost(book(), [segment(0, HOUR, 0n, 0)])).toBe("0.15");
  });

  it("is converted at the rate of its time, and is divided by time if a rate begins inside a segment", () => {
    expect(cost(book({}, { currency: "EUR" }), [MEASURED])).toBe("0.1035");
    const halves = [segment(0, HOUR / 2, 1_080_000_000n), segment(HOUR / 2, HOUR, 0n)];
    expect(cost(book({}, { currency: "EUR" }), halves)).toBe("0.099");
  });

  it("costs nothing after the machine is retired, and is not computed if the entry has no price for it", () => {
    expect(cost(book({ retired: "2026-03-02T00:20:00Z" }), [MEASURED])).toBe("0.03");
    expect(cost(book({ retired: "2026-03-01" }), [MEASURED])).toBe("0");
    expect(cost(book({ kWhPrice: undefined, pue: undefined, watts: undefined }), [MEASURED])).toBeUndefined();
  });

  it("adds up for any cuts of the time", () => {
    const cut = fc.integer({ min: 1, max: HOUR - 1 });
    fc.assert(
      fc.property(cut, fc.nat(2_000_000_000), fc.nat(HOUR), (at, millijoules, covered) => {
        const of = book({}, { currency: "EUR" });
        const segments = [segment(0, HOUR, BigInt(millijoules), covered)];
        const sum = (
          [[0, at] as const, [at, HOUR] as const].map((span) => exactCost(of, segments, span)!) as Rational[]
        ).reduce((total, each) => add(total, each), rational(0));
        expect(sum).toEqual(exactCost(of, segments));
      }),
    );
  });
});
