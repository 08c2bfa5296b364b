import fc from "fast-check";
import { expect, it } from "vitest";
import { minorDigitsOf } from "../../../../domain/price/currency.ts";
import { fitsGlob, isGlob, literalLength } from "../../../../domain/glob.ts";
import { instantOf } from "../../../../domain/price/instant.ts";
import { rounds } from "../../../support/rounds.ts";

it.each([
  ["2026-03-01", "2026-03-01T00:00:00.000Z"],
  ["2028-02-29", "2028-02-29T00:00:00.000Z"],
  ["2026-03-01T10:30Z", "2026-03-01T10:30:00.000Z"],
  ["2026-03-01T10:30:15Z", "2026-03-01T10:30:15.000Z"],
  ["2026-03-01T10:30:15.250Z", "2026-03-01T10:30:15.250Z"],
])("%s is %s", (text, time) => {
  expect(instantOf(text)).toBe(Date.parse(time));
});

it.each([
  "2026-02-29",
  "2026-04-31",
  "2026-13-01",
  "2026-3-1",
  "2026-03-01T10:30:00",
  "2026-03-01T10:30:00+01:00",
  "2026-03-01T24:00:00Z",
  "2026-03-01T10:60:00Z",
  "2026-03",
  "20260301",
  "March 1, 2026",
  "",
])("'%s' is not a moment, or is ambiguous", (text) => {
  expect(instantOf(text)).toBeUndefined();
});

it.each([
  ["NVIDIA-A100*", "NVIDIA-A100-SXM4-40GB", true],
  ["NVIDIA-A100*", "NVIDIA-A10", false],
  ["*A100*40GB", "NVIDIA-A100-SXM4-40GB", true],
  ["*A100*40GB", "NVIDIA-A100-SXM4-80GB", false],
  ["NVIDIA-?100-*", "NVIDIA-H100-PCIE", true],
  ["NVIDIA-?100", "NVIDIA-100", false],
  ["*", "", true],
  ["**a", "a", true],
  ["a*b*c", "abbbc", true],
  ["a*b*c", "acb", false],
  ["NVIDIA.A100*", "NVIDIA-A100", false],
  ["nvidia*", "NVIDIA-A100", false],
])("the glob %s matches %s: %s", (glob, value, isFitting) => {
  expect(fitsGlob(glob, value)).toBe(isFitting);
});

it("a glob matches the same texts as an equivalent regular expression", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
  const values = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
  fc.assert(
    fc.property(letters, values, (glob, value) => {
      const same = new RegExp(`^${glob.replaceAll("*", ".*").replaceAll("?", ".")}$`);
      expect(fitsGlob(glob, value)).toBe(same.test(value));
    }),
    { numRuns: rounds(2000) },
  );
});

it("a hostile glob takes at most time in proportion to its length times the value's length", () => {
  expect(fitsGlob("*a".repeat(2000), "a".repeat(4000) + "b")).toBe(false);
});

it("the literal part of a glob is everything except its stars and question marks", () => {
  expect([literalLength("NVIDIA-A100*"), literalLength("*?*"), literalLength("a*b?")]).toEqual([11, 0, 2]);
  expect([isGlob("NVIDIA-A100-SXM4-40GB"), isGlob("A?00"), isGlob("*")]).toEqual([false, true, true]);
});

it.each([
  ["USD", 2],
  ["EUR", 2],
  ["JPY", 0],
  ["KWD", 3],
  ["XXX", undefined],
  ["usd", undefined],
  ["BTC", undefined],
])("%s has %s digits in its minor unit", (currency, digits) => {
  expect(minorDigitsOf(currency)).toBe(digits);
});
