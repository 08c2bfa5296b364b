import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDecimal, add, compare, ONE, ZERO, type Rational } from "../../../../domain/exact/rational.ts";
import { ratiosOf } from "../../../../reports/focus/ratio.ts";

const exact = (text: string): Rational => {
  const parsed = parseDecimal(text);
  if ("error" in parsed) throw new TypeError(parsed.error);
  return parsed.value;
};

describe("the ratios of an origin's parts", () => {
  it("are rounded by the largest remainder", () => {
    expect(ratiosOf([1n, 1n, 1n])).toEqual(["0.333333333333334", "0.333333333333333", "0.333333333333333"]);
    expect(ratiosOf([3n, 0n, 1n])).toEqual(["0.75", "0", "0.25"]);
    expect(ratiosOf([5n])).toEqual(["1"]);
  });

  it.each([{ of: [0n, 0n] }, { of: [2n, -1n] }, { of: [] }])("are absent if the whole is 0: $of", ({ of }) => {
    expect(ratiosOf(of)).toBeUndefined();
  });

  it("sum to exactly 1, for any quantities", () => {
    const quantities = fc.array(fc.bigInt({ min: 0n, max: 10n ** 20n }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(quantities, (of) => {
        fc.pre(of.some((quantity) => quantity > 0n));
        expect(compare(ratiosOf(of)!.map(exact).reduce(add, ZERO), ONE)).toBe(0);
      }),
    );
  });
});
