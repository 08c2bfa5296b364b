import { describe, expect, it } from "vitest";
import { ONE, rational } from "../../../../domain/exact/rational.ts";
import { gpuPartOf, gpusOfInstanceType } from "../../../../domain/gpu-model/instance-types.ts";
import { GPU_MODELS } from "../../../../domain/gpu-model/models.ts";
import { canonicalModel, meansModel, usableMemoryMiB, vendorOfModel } from "../../../../domain/gpu-model/names.ts";

describe("the memory of a model that programs can use", () => {
  // The memory that nvidia-smi and dcgm-exporter show for each of them.
  it.each([
    ["NVIDIA L4", 22_888],
    ["Tesla T4", 15_360],
    ["NVIDIA A10G", 23_028],
    ["NVIDIA L40S", 46_068],
    ["NVIDIA A100-SXM4-40GB", 40_960],
    ["NVIDIA H100 80GB HBM3", 81_559],
    ["NVIDIA H200", 143_771],
  ])("of %s is at most the %i MiB that it shows, and at least 95 % of them", (model, shown) => {
    expect(usableMemoryMiB(model)).toBeLessThanOrEqual(shown);
    expect(usableMemoryMiB(model)).toBeGreaterThan(0.95 * shown);
  });

  it("is not known of an unknown model", () => {
    expect(usableMemoryMiB("NVIDIA Something New")).toBeUndefined();
  });
});

describe("a model's name", () => {
  it.each([
    ["NVIDIA L4", "NVIDIA-L4"],
    ["l4", "NVIDIA-L4"],
    ["nvidia-l4", "NVIDIA-L4"],
    ["Tesla T4", "Tesla-T4"],
    ["nvidia-tesla-t4", "Tesla-T4"],
    ["NVIDIA A100-SXM4-40GB", "NVIDIA-A100-SXM4-40GB"],
    ["nvidia-tesla-a100", "NVIDIA-A100-SXM4-40GB"],
    ["nvidia-a100-80gb", "NVIDIA-A100-SXM4-80GB"],
    ["NVIDIA A100 80GB PCIe", "NVIDIA-A100-80GB-PCIe"],
    ["nvidia-h100-mega-80gb", "NVIDIA-H100-80GB-HBM3"],
    ["h200", "NVIDIA-H200"],
    ["AMD_Instinct_MI300X_OAM", "AMD-Instinct-MI300X-OAM"],
    ["AMD Instinct MI300X", "AMD-Instinct-MI300X-OAM"],
    ["Flex_170", "Intel-Data-Center-GPU-Flex-170"],
    ["Intel(R) Data Center GPU Flex 170", "Intel-Data-Center-GPU-Flex-170"],
    ["NVIDIA GeForce RTX 4090", "NVIDIA-GeForce-RTX-4090"],
    ["NVIDIA_Something_New", "NVIDIA-Something-New"],
    ["H100_NVLINK_80GB", "NVIDIA-H100-80GB-HBM3"],
    ["A100_PCIE_40GB", "NVIDIA-A100-PCIE-40GB"],
    ["Tesla_V100_NVLINK", "Tesla-V100-SXM2-16GB"],
  ])("%s is %s", (written, canonical) => {
    expect(canonicalModel(written)).toBe(canonical);
  });

  it.each([
    ["a100", 40_960, "NVIDIA-A100-SXM4-40GB"],
    ["a100", 81_920, "NVIDIA-A100-SXM4-80GB"],
    ["v100", 32_768, "Tesla-V100-SXM2-32GB"],
    ["H100", 95_830, "NVIDIA-H100-NVL"],
  ])("%s with %i MiB is %s", (written, memoryMiB, canonical) => {
    expect(canonicalModel(written, memoryMiB)).toBe(canonical);
  });

  it("is its own canonical name with any memory, and matches itself", () => {
    for (const { name, vendor } of GPU_MODELS) {
      expect(canonicalModel(name, 1)).toBe(name);
      expect(meansModel(name, name)).toBe(true);
      expect(vendorOfModel(name)).toBe(vendor);
    }
  });

  it("has a maker by its prefix where the model is unknown", () => {
    expect(vendorOfModel("NVIDIA RTX 9000")).toBe("nvidia");
    expect(vendorOfModel("Gaudi 3")).toBeUndefined();
  });
});

describe("a pattern", () => {
  it.each([
    ["NVIDIA-L4*", "NVIDIA-L4", true],
    ["nvidia l4", "NVIDIA-L4", true],
    ["L4", "NVIDIA-L4", true],
    ["L4", "NVIDIA-L40S", false],
    ["*T4*", "Tesla-T4", true],
    ["NVIDIA-T4", "Tesla-T4", true],
    ["NVIDIA*", "Tesla-T4", true],
    ["NVIDIA*", "AMD-Instinct-MI300X-OAM", false],
    ["AMD*", "AMD-Instinct-MI300X-OAM", true],
    ["MI300X", "AMD-Instinct-MI300X-OAM", true],
    ["A100", "NVIDIA-A100-SXM4-80GB", true],
    ["*RTX*4090", "NVIDIA-GeForce-RTX-4090", true],
    ["GeForce-RTX-4090", "NVIDIA-GeForce-RTX-4090", true],
    ["RTX-4090", "NVIDIA-GeForce-RTX-4090", true],
    ["NVIDIA-A40", "A40", true],
    ["A40", "NVIDIA-RTX-A4000", false],
    ["A40", "NVIDIA-A40-48Q", true],
    ["GH200", "NVIDIA-GH200-480GB", true],
    ["H200", "NVIDIA-GH200-480GB", false],
    ["RTX-6000", "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", false],
    ["A100-80GB", "NVIDIA-A100-80GB-PCIe", true],
    ["AMD-A40", "NVIDIA-A40", false],
    ["NVIDIA", "NVIDIA-A40", false],
    ["B60", "Intel-Arc-Pro-B60", true],
  ])("%s and the model %s: %s", (pattern, model, means) => {
    expect(meansModel(pattern, model)).toBe(means);
  });
});

describe("an instance type", () => {
  it.each([
    ["g4dn.xlarge", "T4", 1],
    ["p5.48xlarge", "H100", 8],
    ["a2-highgpu-4g", "A100-40GB", 4],
    ["Standard_ND96isr_MI300X_v5", "MI300X", 8],
    ["BM.GPU.A10.4", "A10", 4],
  ])("%s has %s × %i", (type, model, count) => {
    expect(gpusOfInstanceType(type)).toEqual({ model, count });
  });

  it("of the table has a known model", () => {
    for (const type of ["g6.xlarge", "g4ad.xlarge", "g4-standard-48", "NC24ads_A100_v4", "p6-b300.48xlarge"])
      expect(GPU_MODELS.map(({ name }) => name)).toContain(canonicalModel(gpusOfInstanceType(type)!.model));
  });

  it.each([
    ["g6f.large", 8],
    ["g6f.2xlarge", 4],
    ["gr6f.4xlarge", 2],
    ["g4-standard-6", 8],
    ["Standard_NV6ads_A10_v5", 6],
    ["Standard_NV12ads_A10_v5", 3],
  ])("%s has one of %i parts of a GPU", (type, parts) => {
    expect(gpusOfInstanceType(type)?.count).toBe(1);
    expect(gpuPartOf(type)).toEqual(rational(1, parts));
  });

  it("has no part of a GPU if it is unknown or has whole GPUs", () => {
    expect(gpusOfInstanceType("m5.large")).toBeUndefined();
    expect([undefined, "m5.large", "g6.2xlarge"].map(gpuPartOf)).toEqual([ONE, ONE, ONE]);
  });
});
