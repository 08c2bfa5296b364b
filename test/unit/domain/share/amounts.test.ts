import { describe, expect, it } from "vitest";
import { fractionShare } from "../../../../domain/share/fraction.ts";
import { gpuMemoryOf, type MemoryShare } from "../../../../domain/share/gpu-memory.ts";
import { vgpuShare } from "../../../../domain/share/vgpu.ts";
import { textOf } from "./fraction-text.ts";

const A100 = gpuMemoryOf({ model: "NVIDIA-A100-SXM4-40GB", memoryMiB: 40_960 });
const shown = ({ share, ...rest }: MemoryShare) => ({ share: textOf(share), ...rest });

describe("a vGPU's share", () => {
  it.each([
    // 10,240 of 40,960 MiB = 1/4.
    [{ memoryMiB: 10_240 }, "1/4"],
    [{ memoryMiB: 10_240, coresPercent: 0 }, "1/4"],
    [{ memoryMiB: 10_240, coresPercent: 20 }, "1/4"],
    [{ memoryMiB: 10_240, coresPercent: 30 }, "3/10"],
    [{ memoryPercent: 15 }, "3/20"],
    [{ memoryPercent: 15, coresPercent: 40 }, "2/5"],
    // An amount has precedence over a percentage.
    [{ memoryMiB: 10_240, memoryPercent: 90 }, "1/4"],
    // Unset memory is all of it.
    [{ coresPercent: 30 }, "1"],
    [{ memoryMiB: 0, coresPercent: 30 }, "1"],
    [{}, "1"],
    // Oversold memory: 51,200 ÷ 40,960 = 5/4.
    [{ memoryMiB: 51_200 }, "5/4"],
  ])("of %j on 40,960 MiB is %s", (amounts, share) => {
    expect(shown(vgpuShare(amounts, A100))).toEqual({ share });
  });

  it("is that of its cores, or otherwise 1, if the GPU's memory is unknown; a note reports the assumption", () => {
    const assumption = "gpu-memory-unknown";
    expect(shown(vgpuShare({ memoryMiB: 10_240, coresPercent: 30 }, undefined))).toEqual({ share: "3/10", assumption });
    expect(shown(vgpuShare({ memoryMiB: 10_240 }, undefined))).toEqual({ share: "1", assumption });
    expect(shown(vgpuShare({ memoryPercent: 25 }, undefined))).toEqual({ share: "1/4" });
  });
});

describe("a fraction's share", () => {
  it.each([
    [{ ppm: 500_000 }, "1/2"],
    [{ ppm: 333_333 }, "333333/1000000"],
    [{ memoryMiB: 8192 }, "1/5"],
    [{}, "1"],
  ])("of %j on 40,960 MiB is %s", (amounts, share) => {
    expect(shown(fractionShare(amounts, A100))).toEqual({ share });
  });

  it("by memory is 1 if the GPU's memory is unknown; a note reports the assumption", () => {
    expect(shown(fractionShare({ memoryMiB: 8192 }, undefined))).toEqual({
      share: "1",
      assumption: "gpu-memory-unknown",
    });
    expect(shown(fractionShare({ ppm: 250_000 }, undefined))).toEqual({ share: "1/4" });
  });
});

describe("a GPU's memory", () => {
  it("is the measured memory, or otherwise that of the model's name, or otherwise unknown", () => {
    expect(A100).toEqual({ mib: 40_960, isNominal: false });
    expect(gpuMemoryOf({ model: "NVIDIA H100 80GB HBM3", memoryMiB: 0 })).toEqual({ mib: 81_920, isNominal: true });
    expect(gpuMemoryOf({ model: "NVIDIA L4" })).toBeUndefined();
  });

  it("is noted with the share if it comes from the model's name", () => {
    const nominal = gpuMemoryOf({ model: "NVIDIA H100 80GB HBM3" });
    const assumption = "gpu-memory-nominal";
    expect(shown(fractionShare({ memoryMiB: 8192 }, nominal))).toEqual({ share: "1/10", assumption });
    expect(shown(vgpuShare({ memoryMiB: 8192, coresPercent: 50 }, nominal))).toEqual({ share: "1/2", assumption });
  });
});
