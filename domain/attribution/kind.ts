import { amdModeOf, type AmdMode } from "../amd-partition.ts";
import { instanceKey, gpuKey, type Device } from "../device.ts";
import type { Holding, NodeHoldings } from "../holding.ts";
import type { NodeGpus } from "../inventory.ts";
import { isSameProfile } from "../mig-profile.ts";
import { vendorOfResource, type Vendor } from "../vendor.ts";
import type { DeviceEvidence } from "../workload.ts";

type Annotated = Extract<DeviceEvidence, { by: "annotation" }>;

const BY_EXPORTER: Readonly<Record<string, Vendor>> = {
  "dcgm-exporter": "nvidia",
  nvidia_gpu_exporter: "nvidia",
  "hami-vgpu-monitor": "nvidia",
  "amd-device-metrics-exporter": "amd",
  "intel-xpu-manager": "intel",
};
/** Whose devices an exporter speaks of; undefined where it is not known: then they can be anyone's. */
export function vendorOf(exporter: string): Vendor | undefined {
  return BY_EXPORTER[exporter];
}

/** What tells a device of a scrape from another: the rows of the pods that share it have the same. */
export function deviceKey(device: Device): string {
  return `${gpuKey(device)}/${instanceKey(device)}`;
}

/** Whether a node with these GPUs gives one of them to several pods, by time-slicing or MPS. */
export function isShared(kinds: readonly NodeGpus[], vendor: Vendor | undefined): boolean {
  return kinds.some((gpus) => isOf(vendor, gpus.vendor) && (gpus.replicas > 1 || gpus.sharing !== "none"));
}

/** How many devices a pod asks for in all; Infinity with a claim, of which the pod itself does not say how many it is for. */
export function askedInAll({ asks }: Holding): number {
  return asks.reduce((sum, ask) => sum + (ask.kind === "claim" ? Infinity : ask.count), 0);
}

/** Whether a pod asks for devices of the kind that a row is of: a GPU, or a MIG instance of a profile. */
export function asksFor(pod: Holding, device: Device, vendor: Vendor | undefined, node: NodeHoldings): boolean {
  const isInstance = device.instance !== undefined;
  const profile = device.profile ?? device.claim?.migProfile;
  return pod.asks.some((ask) => {
    switch (ask.kind) {
      case "gpu": {
        // With the strategy "single" an instance is asked for as a GPU.
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
        return isOf(vendor, "nvidia") && (given === undefined || (device.uuid ?? given.uuid) === given.uuid);
      }
      case "fraction":
        return isOf(vendor, "nvidia") && !isInstance;
      case "claim":
        return !isInstance;
    }
  });
}

/** Whether a pod asks for parts of GPUs alone, of which others can have the rest. */
export function hasPart({ asks }: Holding): boolean {
  return asks.length > 0 && asks.every(({ kind }) => kind === "vgpu" || kind === "fraction");
}

/** The instance of MIG that HAMi gave a pod. */
export function givenInstance({ evidence }: Pick<Holding, "evidence">): Annotated | undefined {
  return evidence.find((said): said is Annotated => said.by === "annotation" && said.isInstance === true);
}

/** Whether a device is an instance that HAMi names by its GPU and the memory that HAMi gives instances of the profile: whole GiB. */
export function isInstanceOf(
  { uuid, profile }: Device,
  named: { readonly uuid?: string; readonly memoryMiB?: number },
): boolean {
  const gigabytes = /\.(\d+)gb/.exec(profile ?? "")?.[1];
  return (
    uuid === named.uuid && gigabytes !== undefined && Number(gigabytes) === Math.round((named.memoryMiB ?? 0) / 1024)
  );
}

/** By AMD's mixed naming a resource is for whole GPUs or for the partitions of a mode; any other is for all devices. */
function isOfMode({ partition }: Device, mode: AmdMode | undefined): boolean {
  return mode === undefined || (mode === "spx") === (partition === undefined);
}

function isOf(one: Vendor | undefined, other: Vendor | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}
