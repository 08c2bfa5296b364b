import { describe, expect, it } from "vitest";
import { activityPpm } from "../../../domain/activity.ts";
import { gpuKey, instanceKey, sharingKey, uuidInKey } from "../../../domain/device.ts";

describe("the key of a GPU", () => {
  it("is the UUID, or without one the PCI address, or without both the index", () => {
    expect(gpuKey({ uuid: "GPU-1", pciBusId: "00:1e.0", gpu: "0" })).toBe("GPU-1");
    expect(gpuKey({ pciBusId: "00:1e.0", gpu: "0" })).toBe("pci:00:1e.0");
    expect(gpuKey({ gpu: "0" })).toBe("index:0");
    expect(gpuKey({ model: "NVIDIA A30" })).toBe("");
  });

  it("is never a UUID of zeroes, which AMD's virtual functions share", () => {
    expect(gpuKey({ uuid: "00000000-0000-0000-0000-000000000000", gpu: "3" })).toBe("index:3");
    expect(gpuKey({ uuid: "GPU-00000000-0000-0000-0000-000000000000", pciBusId: "a" })).toBe("pci:a");
  });

  it("contains the UUID if the UUID identifies the GPU", () => {
    const devices = [{ uuid: "GPU-1", gpu: "0" }, { pciBusId: "00:1e.0" }, { gpu: "0" }, {}];
    expect(devices.map((device) => uuidInKey(gpuKey(device)))).toEqual(["GPU-1", undefined, undefined, undefined]);
  });

  it("is different for each instance, partition and sharing pod", () => {
    expect(instanceKey({ instance: "3" })).toBe("3");
    expect(instanceKey({ partition: "1" })).toBe("1");
    expect(instanceKey({})).toBe("");
    expect(sharingKey({ gpu: "0" })).toBe("");
    expect(sharingKey({ namespace: "ml", pod: "a", vgpu: "1" })).not.toBe(
      sharingKey({ namespace: "ml", pod: "a", vgpu: "2" }),
    );
  });
});

describe("the activity of a device", () => {
  it("is the largest measured ratio in parts per million, so that a stuck counter does not make a busy GPU idle", () => {
    expect(activityPpm(0, 0.91, Number.NaN)).toBe(910_000);
    expect(activityPpm(0.1234567, 0)).toBe(123_457);
  });

  it("is unknown where nothing was measured, and never above 100 %", () => {
    expect(activityPpm(Number.NaN, Number.NaN)).toBeUndefined();
    expect(activityPpm(1.00001)).toBe(1_000_000);
  });
});
