import { describe, expect, it } from "vitest";
import { regimeOfDevice, regimesOf } from "../../../domain/regime.ts";

const gpu = { kind: "gpu", resource: "nvidia.com/gpu", count: 1 } as const;

describe("a regime", () => {
  it("of a request for a GPU is the node's way of sharing it", () => {
    expect(regimesOf([gpu])).toEqual(["whole"]);
    expect(regimesOf([gpu], "time-slicing")).toEqual(["time-slicing"]);
    expect(regimesOf([gpu], "mps")).toEqual(["mps"]);
  });

  it("of other requests is their own, each once, independent of the node", () => {
    const mig = { kind: "mig", resource: "nvidia.com/mig-1g.10gb", profile: "1g.10gb", count: 1 } as const;
    const vgpu = { kind: "vgpu", scheduler: "hami", count: 1 } as const;
    expect(regimesOf([mig, mig, vgpu, { kind: "claim", claim: "c" }], "mps")).toEqual(["mig", "hami", "dra"]);
    expect(regimesOf([{ kind: "fraction", count: 1, ppm: 500_000 }])).toEqual(["fraction"]);
  });

  it("of a pod without requests is a reservation", () => {
    expect(regimesOf([])).toEqual(["reservation"]);
  });

  it("of a free device is the regime of the device", () => {
    expect(regimeOfDevice({ isInstance: true, isPartition: false }, "time-slicing")).toBe("mig");
    expect(regimeOfDevice({ isInstance: false, isPartition: true }, "none")).toBe("partition");
    expect(regimeOfDevice({ isInstance: false, isPartition: false }, "time-slicing")).toBe("time-slicing");
    expect(regimeOfDevice({ isInstance: false, isPartition: false }, "none")).toBe("whole");
  });
});
