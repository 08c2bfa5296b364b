import { amdModeOf, type AmdMode } from "../amd-partition.ts";
import { instanceKey, gpuKey, type Device } from "../device.ts";
import type { Holding, NodeHoldings } from "../holding.ts";
import type { NodeGpus } from "../inventory.ts";
import { isSameProfile } from "../mig-profile.ts";
import { vendorOfResource, type Vendor } from "../vendor.ts";
import type { DeviceEvidence } from "../workload.ts";

type Annotated = Extract<DeviceEvidence, { by: "annotation" }>;

const BY_EXPORTER: ReadonlyMap<string, Vendor> = new Map([
  ["dcgm-exporter", "nvidia"],
  ["nvidia_gpu_exporter", "nvidia"],
  ["hami-vgpu-monitor", "nvidia"],
  ["amd-device-metrics-exporter", "amd"],
  ["intel-xpu-manager", "intel"],
]);

/** Returns the vendor of an exporter's devices. Undefined if unknown; the devices can then be of any vendor. */
export function vendorOf(exporter: string): Vendor | undefined {
  return BY_EXPORTER.get(exporter);
}

/** Returns the key of a device within a scrape. The rows of the pods that share a device have the same key. */
export function deviceKey(device: Device): string {
  return `${gpuKey(device)}/${instanceKey(device)}`;
}

/** Returns whether a node with these GPUs shares one of them among several pods, by time-slicing or MPS. */
export function isShared(kinds: readonly NodeGpus[], vendor: Vendor | undefined): boolean {
  return kinds.some((gpus) => isOf(vendor, gpus.vendor) && (gpus.replicas > 1 || gpus.sharing !== "none"));
}

/**
 * Returns the total number of devices that a pod requests. Infinity with a claim, because the pod itself does not contain the number of its
 * devices.
 */
export function askedInAll({ asks }: Holding): number {
  return asks.reduce((sum, ask) => sum + (ask.kind === "claim" ? Infinity : ask.count), 0);
}

/** Returns whether a pod requests devices of a row's kind: a GPU, or a MIG instance of a profile. */
export function asksFor(pod: Holding, device: Device, vendor: Vendor | undefined, node: NodeHoldings): boolean {
  const isInstance = device.instance !== undefined;
  const profile = device.profile ?? device.claim?.migProfile;
  return pod.asks.some((ask) => {
    switch (ask.kind) {
      case "gpu": {
        // With the strategy "single", an instance is requested as a GPU.
        const single = !node.gpus.some((gpus) => gpus.vendor === "nvidia" && gpus.mig.strategy === "mixed");
        return (
          isOf(vendor, vendorOfResource(ask.resource)) &&
          (!isInstance || single) &&
          isOfMode(device, amdModeOf(ask.resource))
        );
      }
      case "mig":
        return isOf(vendor, "nvidia") && isInstance && (profile === undefined || isSameProfile(profile, ask.profile));
      case "vgpu": {
        const given = givenInstance(pod);
        if (isInstance) return given !== undefined && isInstanceOf(device, given);
        const own = ask.scheduler === "hami-amd" ? "amd" : "nvidia";
        return isOf(vendor, own) && (given === undefined || (device.uuid ?? given.uuid) === given.uuid);
      }
      case "fraction":
        return isOf(vendor, "nvidia") && !isInstance;
      case "claim":
        return !isInstance;
    }
  });
}

/** Returns whether a pod requests only parts of GPUs, so that other pods can have the rest. */
export function hasPart({ asks }: Holding): boolean {
  return asks.length > 0 && asks.every(({ kind }) => kind === "vgpu" || kind === "fraction");
}

/** Returns the MIG instance that HAMi allocated to a pod; undefined without one. */
export function givenInstance({ evidence }: Pick<Holding, "evidence">): Annotated | undefined {
  return evidence.find((entry): entry is Annotated => entry.by === "annotation" && entry.isInstance === true);
}

/**
 * Returns whether a device is an instance that HAMi names by its GPU and by the memory that HAMi gives instances of the profile: whole GiB.
 */
export function isInstanceOf(
  { uuid, profile }: Device,
  named: { readonly uuid?: string; readonly memoryMiB?: number },
): boolean {
  const gigabytes = /\.(\d+)gb/.exec(profile ?? "")?.[1];
  return (
    uuid === named.uuid && gigabytes !== undefined && Number(gigabytes) === Math.round((named.memoryMiB ?? 0) / 1024)
  );
}

/**
 * Returns whether a device fits a mode. With AMD's mixed naming, a resource is either for whole GPUs or for the partitions of a mode. Any
 * other resource is for all devices.
 */
function isOfMode({ partition }: Device, mode: AmdMode | undefined): boolean {
  return mode === undefined || (mode === "spx") === (partition === undefined);
}

function isOf(one: Vendor | undefined, other: Vendor | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}
