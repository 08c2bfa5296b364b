import { describe, expect, it } from "vitest";
import { compare, multiply, ONE, rational } from "../../../../domain/exact/rational.ts";
import { migProductOf, nominalMemoryMiB } from "../../../../domain/share/mig-product.ts";
import { migShapeOf, migShare, type MigMeasure } from "../../../../domain/share/mig-shape.ts";
import { MIG_PRODUCTS } from "../../../../domain/share/mig-table.ts";
import { MIG_FIGURES } from "./mig-figures.ts";

const MEASURES: readonly MigMeasure[] = ["max", "compute", "memory"];
const productNamed = (name: string) => MIG_PRODUCTS.find((product) => product.name === name);

describe("the table of MIG profiles", () => {
  it.each(MIG_FIGURES)("has %s's %s", (name, profile, compute, computeTotal, memory, memoryTotal, most) => {
    const product = productNamed(name)!;
    expect([product.computeSlices, product.memorySlices]).toEqual([computeTotal, memoryTotal]);
    expect(product.profiles.find((each) => each.name === profile)).toEqual({
      name: profile,
      computeSlices: compute,
      memorySlices: memory,
      mostInstances: most,
    });
    expect(migShapeOf(profile, { product, isAssumed: false })).toEqual({
      computeSlices: compute,
      memorySlices: memory,
    });
  });

  it("has no other profiles", () => {
    expect(MIG_PRODUCTS.flatMap(({ profiles }) => profiles)).toHaveLength(MIG_FIGURES.length);
  });

  it.each(MIG_FIGURES)("limits the instances of %s's %s that fit to the GPU in every measure", (name, profile) => {
    const product = productNamed(name)!;
    const most = product.profiles.find((each) => each.name === profile)!.mostInstances;
    const shape = migShapeOf(profile, { product, isAssumed: false });
    for (const measure of MEASURES)
      expect(compare(multiply(migShare(shape, product, measure), rational(most)), ONE)).toBeLessThanOrEqual(0);
  });
});

describe("a model's name", () => {
  it.each([
    ["NVIDIA A30", "A30"],
    ["NVIDIA-A30-MIG-2g.12gb", "A30"],
    ["NVIDIA A100-SXM4-40GB", "A100-40"],
    ["NVIDIA-A100-SXM4-40GB", "A100-40"],
    ["NVIDIA A100-PCIE-40GB", "A100-40"],
    ["NVIDIA-A100-SXM4-40GB-MIG-1g.10gb", "A100-40"],
    ["A100-SXM4-40GB", "A100-40"],
    ["NVIDIA A100-SXM4-80GB", "A100-80"],
    ["NVIDIA A100 80GB PCIe", "A100-80"],
    ["NVIDIA-A100-80GB-PCIe-SHARED", "A100-80"],
    ["NVIDIA H100 80GB HBM3", "H100-80"],
    ["NVIDIA-H100-80GB-HBM3", "H100-80"],
    ["NVIDIA H100 PCIe", "H100-80"],
    ["NVIDIA H100 NVL", "H100-94"],
    ["NVIDIA-H100-NVL", "H100-94"],
    ["NVIDIA H100 SXM5 96GB", "H100-96"],
    ["NVIDIA GH200 480GB", "GH200-96"],
    ["NVIDIA GH200 120GB", "GH200-96"],
    ["NVIDIA GH200 144G HBM3e", "GH200-144"],
    ["NVIDIA-GH200-144G-HBM3e", "GH200-144"],
    ["NVIDIA H200", "H200-141"],
    ["NVIDIA H200 NVL", "H200-141"],
    ["NVIDIA B200", "B200-180"],
    ["NVIDIA GB200", "GB200-186"],
    ["NVIDIA B300 SXM6 AC", "B300-269"],
    ["NVIDIA GB300", "GB300-278"],
    ["NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX-PRO-6000"],
    ["NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition", "RTX-PRO-6000"],
    ["NVIDIA RTX PRO 5000 Blackwell", "RTX-PRO-5000"],
    ["NVIDIA-RTX-PRO-4500-Blackwell", "RTX-PRO-4500"],
    ["NVIDIA H20", "H20-96"],
  ])("%s is %s", (model, name) => {
    expect(migProductOf(model)).toMatchObject({ product: { name }, isAssumed: false });
  });

  it.each([
    ["NVIDIA H100", 81_559, "H100-80"],
    ["NVIDIA H100", 95_830, "H100-94"],
    ["NVIDIA H100", 97_871, "H100-96"],
    ["NVIDIA GH200", 97_871, "GH200-96"],
    ["NVIDIA GH200", 145_920, "GH200-144"],
    ["NVIDIA A100", 40_536, "A100-40"],
    ["NVIDIA A100", 81_251, "A100-80"],
  ])("%s with %i MiB is %s", (model, memoryMiB, name) => {
    expect(migProductOf(model, memoryMiB)).toMatchObject({ product: { name }, isAssumed: false });
  });

  it.each([
    ["NVIDIA A100-SXM-64GB", undefined, 64],
    ["NVIDIA A100-SXM-64GB", 81_251, 81_251 / 1024],
    ["NVIDIA A800-SXM4-80GB", undefined, 80],
    ["NVIDIA A100", 65_536, 64],
    ["NVIDIA A100", undefined, undefined],
    ["NVIDIA RTX 6000 Ada Generation", 49_140, 49_140 / 1024],
    [undefined, undefined, undefined],
  ])("%s with %s MiB is assumed to have 7 compute and 8 memory slices", (model, memoryMiB, memoryGb) => {
    const { product, isAssumed } = migProductOf(model, memoryMiB);
    expect(isAssumed).toBe(true);
    expect([product.computeSlices, product.memorySlices, product.memoryGb]).toEqual([7, 8, memoryGb]);
  });

  it.each([
    ["NVIDIA-A100-SXM4-40GB", 40_960],
    ["NVIDIA H200", 144_384],
    ["NVIDIA GH200 480GB", 98_304],
    ["NVIDIA A800-SXM4-80GB", 81_920],
    ["Tesla V100-SXM2-16GB", 16_384],
    ["NVIDIA-A100-MIG-1g.10gb", undefined],
    ["NVIDIA L4", undefined],
    [undefined, undefined],
  ])("%s has a memory of %s MiB", (model, memoryMiB) => {
    expect(nominalMemoryMiB(model)).toBe(memoryMiB);
  });
});
