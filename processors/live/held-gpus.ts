import { amdModeOf } from "../../domain/amd-partition.ts";
import { add, multiply, ONE, rational, ZERO, type Rational } from "../../domain/exact/rational.ts";
import type { NodeGpus } from "../../domain/inventory.ts";
import { isSameProfile } from "../../domain/mig-profile.ts";
import { fractionShare } from "../../domain/share/fraction.ts";
import { gpuMemoryOf } from "../../domain/share/gpu-memory.ts";
import { migProductOf } from "../../domain/share/mig-product.ts";
import { migShapeOf, migShare, type MigMeasure } from "../../domain/share/mig-shape.ts";
import { vendorOfResource } from "../../domain/vendor.ts";
import { vgpuShare } from "../../domain/share/vgpu.ts";
import type { GpuAsk } from "../../domain/workload.ts";

/**
 * Returns how much of a node's GPUs a pod holds by its requests; 1 is a whole GPU. A claim counts as one GPU until its devices are known.
 * The ledger charges measured shares; this value is shown for a pod before its first hour has ended.
 */
export function heldGpus(asks: readonly GpuAsk[], gpus: readonly NodeGpus[], measure: MigMeasure): Rational {
  return asks.map((ask) => shareOf(ask, kindFor(ask, gpus), measure)).reduce(add, ZERO);
}

/** Returns the kind of a node's GPUs that fits a request; the node's first kind if nothing decides. */
function kindFor(ask: GpuAsk, gpus: readonly NodeGpus[]): NodeGpus | undefined {
  const isMeant = ({ vendor, mig }: NodeGpus): boolean => {
    if (ask.kind === "mig") return Object.keys(mig.profiles).some((profile) => isSameProfile(profile, ask.profile));
    return ask.kind !== "gpu" || (vendorOfResource(ask.resource) ?? vendor) === vendor;
  };
  return gpus.find(isMeant) ?? gpus[0];
}

function shareOf(ask: GpuAsk, gpu: NodeGpus | undefined, measure: MigMeasure): Rational {
  switch (ask.kind) {
    case "gpu":
      return rational(ask.count, unitsOf(ask.resource, gpu));
    case "mig":
      return multiply(rational(ask.count), instanceShare(ask.profile, gpu, measure));
    case "vgpu":
      return multiply(rational(ask.count), vgpuShare(ask, memoryOf(gpu)).share);
    case "fraction":
      return multiply(rational(ask.count), fractionShare(ask, memoryOf(gpu)).share);
    case "claim":
      return ONE;
  }
}

/** Returns the units of a resource per GPU: its replicas if it is shared, its partitions if AMD's driver cuts it. */
function unitsOf(resource: string, gpu: NodeGpus | undefined): number {
  if (gpu?.partitions !== undefined && amdModeOf(resource) !== "spx") return gpu.partitions;
  return gpu === undefined || (gpu.sharing === "none" && !resource.endsWith(".shared")) ? 1 : Math.max(1, gpu.replicas);
}

function instanceShare(profile: string, gpu: NodeGpus | undefined, measure: MigMeasure): Rational {
  const found = migProductOf(gpu?.model, gpu?.memoryMiB);
  return migShare(migShapeOf(profile, found), found.product, measure);
}

function memoryOf(gpu: NodeGpus | undefined) {
  return gpu === undefined ? undefined : gpuMemoryOf(gpu);
}
