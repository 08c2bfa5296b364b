import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exactDecimal, rational } from "../../../../domain/exact/rational.ts";
import { readAmount } from "../../../../domain/invoice/amount.ts";
import { nextDay, readMoment, readMonth } from "../../../../domain/invoice/moment.ts";

describe("an amount of an export", () => {
  it.each([
    ["3.60", rational(18, 5)],
    ["-0", rational(0)],
    ["1E-05", rational(1, 100_000)],
    ["-2.5e+3", rational(-2_500)],
    ["+.5", rational(1, 2)],
    ["7.", rational(7)],
    ["0.1234567890123456789", rational(1_234_567_890_123_456_789n, 10n ** 19n)],
  ])("%j is exact", (text, value) => {
    expect(readAmount(text)).toEqual(value);
  });

  it.each(["", "-", ".", "1,5", "$3", "1e", "e5", "0x10", "NaN", "Infinity", " 1", "1e999"])(
    "%j is no number",
    (text) => {
      expect(readAmount(text)).toBeUndefined();
    },
  );

  it("of a double is its shortest decimal text", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }), (value) => {
        const text = exactDecimal(readAmount(String(value))!, 400)!;
        expect(Number(text)).toBe(value === 0 ? 0 : value);
      }),
    );
  });
});

describe("a time of an export", () => {
  it.each([
    ["2026-03-01T00:00:00Z", Date.UTC(2026, 2, 1)],
    ["2026-03-01T00:00Z", Date.UTC(2026, 2, 1)],
    ["2026-03-01T10:20:30.456Z", Date.UTC(2026, 2, 1, 10, 20, 30, 456)],
    ["2026-03-01T10:20:30", Date.UTC(2026, 2, 1, 10, 20, 30)],
    ["2026-03-01 10:20:30 UTC", Date.UTC(2026, 2, 1, 10, 20, 30)],
    ["2026-03-01 10:20:30.000", Date.UTC(2026, 2, 1, 10, 20, 30)],
    ["2026-03-01T01:00:00+01:00", Date.UTC(2026, 2, 1)],
    ["2026-03-01", Date.UTC(2026, 2, 1)],
    ["03/01/2026", Date.UTC(2026, 2, 1)],
    ["3/1/2026 00:00", Date.UTC(2026, 2, 1)],
    ["2028-02-29", Date.UTC(2028, 1, 29)],
  ])("%j is a time of UTC", (text, millis) => {
    expect(readMoment(text)).toBe(millis);
  });

  it.each(["", "2026-02-29", "2026-13-01", "13/32/2026", "01.03.2026", "2026-03-01T25:00:00Z", "1772323200", "now"])(
    "%j is no time",
    (text) => {
      expect(readMoment(text)).toBeUndefined();
    },
  );

  it("that is the last day ends at the start of the next one", () => {
    expect(nextDay(Date.UTC(2026, 2, 31))).toBe(Date.UTC(2026, 3, 1));
    expect(readMonth("202612")).toEqual({ from: Date.UTC(2026, 11, 1), until: Date.UTC(2027, 0, 1) });
    expect([readMonth("202613"), readMonth("2026")]).toEqual([undefined, undefined]);
  });
});
