import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compare } from "../../../../domain/exact/rational.ts";
import { migProductOf } from "../../../../domain/share/mig-product.ts";
import { migShapeOf, migShare, type MigMeasure, type MigShape } from "../../../../domain/share/mig-shape.ts";
import { MIG_PRODUCTS } from "../../../../domain/share/mig-table.ts";
import { textOf } from "./fraction-text.ts";

const A100_40 = migProductOf("NVIDIA A100-SXM4-40GB");
const H100_80 = migProductOf("NVIDIA H100 80GB HBM3");
const A30 = migProductOf("NVIDIA A30");

const slices = ({ computeSlices, memorySlices }: MigShape): readonly number[] => [computeSlices, memorySlices];

describe("a profile's name", () => {
  it.each([
    "1g.10gb+me",
    "1g.10gb.me",
    "1g.10gb-me",
    "1g.10gb+gfx",
    "1g.10gb+me.all",
    "1c.1g.10gb",
    "mig-1g.10gb",
    "MIG 1g.10gb",
  ])("%s has the shape of 1g.10gb", (profile) => {
    expect(migShapeOf(profile, H100_80)).toEqual({ computeSlices: 1, memorySlices: 1 });
  });

  it("has another shape on another GPU: 1g.10gb is 2 of 8 memory slices of 40 GB and 1 of 8 of 80 GB", () => {
    expect(slices(migShapeOf("1g.10gb", A100_40))).toEqual([1, 2]);
    expect(slices(migShapeOf("1g.10gb", H100_80))).toEqual([1, 1]);
  });

  it.each([
    ["7g.79gb", 7, 8],
    ["1c.3g.39gb", 3, 4],
    ["1g.11gb", 1, 1],
    ["1g.12gb+me", 1, 1],
  ])("%s, with the memory rounded in another way, is the same profile", (profile, compute, memory) => {
    expect(migShapeOf(profile, H100_80)).toEqual({ computeSlices: compute, memorySlices: memory });
  });

  it("that its model does not have gets memory slices in proportion to the GPU's memory, with a note", () => {
    // 30 of 80 GB: 8 × 30/80 = 3 memory slices. 24 of 24 GB: 4 × 24/24 = 4.
    expect(migShapeOf("2g.30gb", H100_80)).toEqual({ computeSlices: 2, memorySlices: 3, assumption: "mig-profile" });
    expect(migShapeOf("2g.24gb", A30)).toEqual({ computeSlices: 2, memorySlices: 4, assumption: "mig-profile" });
    // More than the GPU has: all of it.
    expect(migShapeOf("9g.200gb", H100_80)).toEqual({ computeSlices: 7, memorySlices: 8, assumption: "mig-profile" });
  });

  it("of an unknown model gets its slices of 7 and 8, with a note", () => {
    // 16 of 64 GB: 8 × 16/64 = 2 memory slices.
    const named = migProductOf("NVIDIA A100-SXM-64GB");
    expect(migShapeOf("1g.16gb", named)).toEqual({ computeSlices: 1, memorySlices: 2, assumption: "mig-model" });
    expect(migShapeOf("1g.8gb", named)).toEqual({ computeSlices: 1, memorySlices: 1, assumption: "mig-model" });
  });

  it.each([
    ["1g.99gb", 1, 1],
    ["2g.99gb", 2, 2],
    ["3g", 3, 4],
    ["4g.99gb", 4, 4],
    ["7g.99gb", 7, 8],
  ])("%s of an unknown GPU has the memory slices that belong to its compute slices", (profile, compute, memory) => {
    expect(migShapeOf(profile, migProductOf(undefined))).toEqual({
      computeSlices: compute,
      memorySlices: memory,
      assumption: "mig-model",
    });
  });

  it.each([undefined, "", "<<<NULL>>>", "0g.5gb", "whole", "1gb"])("%s is read as one slice of each", (profile) => {
    const shape = { computeSlices: 1, memorySlices: 1, assumption: "mig-profile-unreadable" };
    expect(migShapeOf(profile, A100_40)).toEqual(shape);
  });
});

describe("the share of an instance", () => {
  it.each([
    // 3/7 of the compute, 4/8 of the memory.
    [A100_40, "3g.20gb", "compute", "3/7"],
    [A100_40, "3g.20gb", "memory", "1/2"],
    [A100_40, "3g.20gb", "max", "1/2"],
    // 4/7, 4/8: here compute is the larger part.
    [A100_40, "4g.20gb", "max", "4/7"],
    // 1/7, 2/8.
    [A100_40, "1g.10gb", "max", "1/4"],
    [A100_40, "1g.5gb", "max", "1/7"],
    [A100_40, "1g.5gb", "memory", "1/8"],
    [A100_40, "7g.40gb", "max", "1"],
    [A30, "2g.12gb", "max", "1/2"],
  ] as const)("%# %s by %s is %s", ({ product }, profile, measure, share) => {
    const shape = migShapeOf(profile, { product, isAssumed: false });
    expect(textOf(migShare(shape, product, measure))).toBe(share);
  });

  it("by max is at least that by compute and by memory, and none is negative or above 1", () => {
    const instance = fc.record({
      g: fc.nat({ max: 12 }),
      gb: fc.nat({ max: 300 }),
      model: fc.constantFrom(...MIG_PRODUCTS),
    });
    fc.assert(
      fc.property(instance, ({ g, gb, model: product }) => {
        const shape = migShapeOf(`${g}g.${gb}gb`, { product, isAssumed: false });
        const by = (measure: MigMeasure) => migShare(shape, product, measure);
        expect(compare(by("max"), by("compute"))).toBeGreaterThanOrEqual(0);
        expect(compare(by("max"), by("memory"))).toBeGreaterThanOrEqual(0);
        expect(by("compute").num > 0n && by("memory").num > 0n).toBe(true);
        expect(by("max").num <= by("max").den).toBe(true);
      }),
    );
  });
});
