import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add } from "../../../../domain/exact/rational.ts";
import { migProductOf } from "../../../../domain/share/mig-product.ts";
import { fitsOneMore, splitMig } from "../../../../domain/share/mig-remainder.ts";
import { migShapeOf, type MigMeasure } from "../../../../domain/share/mig-shape.ts";
import { MIG_PRODUCTS } from "../../../../domain/share/mig-table.ts";
import { sumOf } from "../../../../domain/share/scale.ts";
import { textOf } from "./fraction-text.ts";
import { creatableOn, keyOf } from "./placements.ts";

const A100_40 = migProductOf("NVIDIA A100-SXM4-40GB");
const split = (profiles: readonly string[], measure: MigMeasure, found = A100_40) => {
  const shapes = profiles.map((profile) => migShapeOf(profile, found));
  const { instances, remainder, remainderIs } = splitMig(found.product, shapes, measure);
  return {
    raw: instances.map(({ raw }) => textOf(raw)),
    shares: instances.map(({ share }) => textOf(share)),
    remainder: textOf(remainder),
    remainderIs,
  };
};

describe("the free remainder of a GPU in MIG mode", () => {
  it("is unallocated while one more profile fits", () => {
    // 1/7 + 1/7 + 2/7 = 4/7; 3 compute and 4 memory slices are left: a 3g.20gb fits.
    expect(split(["1g.5gb", "1g.5gb", "2g.10gb"], "max")).toEqual({
      raw: ["1/7", "1/7", "2/7"],
      shares: ["1/7", "1/7", "2/7"],
      remainder: "3/7",
      remainderIs: "unallocated",
    });
  });

  it("is stranded if no profile fits: 3g + 3g leave 1/7 of the compute and none of the memory", () => {
    expect(split(["3g.20gb", "3g.20gb"], "compute")).toMatchObject({ remainder: "1/7", remainderIs: "stranded" });
    expect(split(["3g.20gb", "3g.20gb"], "memory")).toMatchObject({ remainder: "0" });
    expect(split(["3g.20gb", "3g.20gb"], "max")).toMatchObject({ shares: ["1/2", "1/2"], remainder: "0" });
  });

  it("is stranded if no compute is left: 7 × 1g leave 1/8 of the memory", () => {
    const seven = Array.from({ length: 7 }, () => "1g.5gb");
    expect(split(seven, "memory")).toMatchObject({ remainder: "1/8", remainderIs: "stranded" });
    expect(split(seven, "max")).toMatchObject({ remainder: "0" });
  });

  it("is stranded if no memory is left: 4 × 1g.10gb leave 3/7 of the compute", () => {
    const four = Array.from({ length: 4 }, () => "1g.10gb");
    expect(split(four, "compute")).toMatchObject({ remainder: "3/7", remainderIs: "stranded" });
    expect(split(four, "max")).toMatchObject({ shares: ["1/4", "1/4", "1/4", "1/4"], remainder: "0" });
  });

  it("is decided by the hardware, independent of the measure: 4g leaves room for a 3g by compute, memory and max", () => {
    // By compute 3/7, by memory 4/8, by max 3/7.
    expect(split(["4g.20gb"], "compute")).toMatchObject({ remainder: "3/7", remainderIs: "unallocated" });
    expect(split(["4g.20gb"], "memory")).toMatchObject({ remainder: "1/2", remainderIs: "unallocated" });
    expect(split(["4g.20gb"], "max")).toMatchObject({ remainder: "3/7", remainderIs: "unallocated" });
  });

  it("respects the maximum number of a profile's instances, including those with media extensions", () => {
    const { product } = A100_40;
    const onlyFours = { ...product, profiles: product.profiles.filter(({ name }) => name === "1g.5gb") };
    const shapes = (count: number) => Array.from({ length: count }, () => migShapeOf("1g.5gb+me", A100_40));
    expect(fitsOneMore({ ...onlyFours, computeSlices: 8 }, shapes(6))).toBe(true);
    expect(fitsOneMore({ ...onlyFours, computeSlices: 8 }, shapes(7))).toBe(false);
  });

  it("is the whole GPU, and unavailable, if no instance is created", () => {
    expect(split([], "max")).toEqual({ raw: [], shares: [], remainder: "1", remainderIs: "unavailable" });
  });
});

describe("created instances that are more than the GPU", () => {
  it("are all divided by their sum, and both the raw and the divided values are kept", () => {
    // 4/7 + 1/4 + 1/4 = 16/28 + 7/28 + 7/28 = 30/28 = 15/14. 4/7 ÷ 15/14 = 8/15; 1/4 ÷ 15/14 = 7/30.
    expect(split(["4g.20gb", "1g.10gb", "1g.10gb"], "max")).toEqual({
      raw: ["4/7", "1/4", "1/4"],
      shares: ["8/15", "7/30", "7/30"],
      remainder: "0",
      remainderIs: "stranded",
    });
    // By compute it is 4/7 + 1/7 + 1/7 = 6/7, and nothing is divided.
    expect(split(["4g.20gb", "1g.10gb", "1g.10gb"], "compute")).toMatchObject({
      shares: ["4/7", "1/7", "1/7"],
      remainder: "1/7",
      remainderIs: "stranded",
    });
  });
});

describe("the result of fitting", () => {
  it.each(MIG_PRODUCTS)("on $name equals that of a search over all places", (product) => {
    const creatable = creatableOn(product);
    expect(creatable.size).toBeGreaterThan(product.computeSlices);
    for (const created of creatable.values()) {
      const isFound = product.profiles.some((profile) => creatable.has(keyOf([...created, profile])));
      expect([keyOf(created), fitsOneMore(product, created)]).toEqual([keyOf(created), isFound]);
    }
  });

  it("is consistent with the remainder for any instances: shares and remainder sum to 1, and none is negative", () => {
    const instances = fc.constantFrom(...MIG_PRODUCTS).chain((product) =>
      fc.record({
        product: fc.constant(product),
        created: fc.array(fc.constantFrom(...product.profiles), { minLength: 1, maxLength: 9 }),
        measure: fc.constantFrom<MigMeasure>("max", "compute", "memory"),
      }),
    );
    fc.assert(
      fc.property(instances, ({ product, created, measure }) => {
        const { instances: parts, remainder, remainderIs } = splitMig(product, created, measure);
        expect(textOf(add(remainder, sumOf(parts.map(({ share }) => share))))).toBe("1");
        expect(remainder.num >= 0n && parts.every(({ share }) => share.num > 0n)).toBe(true);
        expect(remainderIs).toBe(fitsOneMore(product, created) ? "unallocated" : "stranded");
      }),
    );
  });
});
