import { amdModeOf } from "../../domain/amd-partition.ts";
import { add, multiply, ONE, rational, ZERO, type Rational } from "../../domain/exact/rational.ts";
import type { ClaimedDevice } from "../../domain/holding.ts";
import type { NodeGpus } from "../../domain/inventory.ts";
import { isSameProfile } from "../../domain/mig-profile.ts";
import { fractionShare } from "../../domain/share/fraction.ts";
import { gpuMemoryOf } from "../../domain/share/gpu-memory.ts";
import { migProductOf } from "../../domain/share/mig-product.ts";
import { migShapeOf, migShare, type MigMeasure } from "../../domain/share/mig-shape.ts";
import { vendorOfResource } from "../../domain/vendor.ts";
import { vgpuShare } from "../../domain/share/vgpu.ts";
import type { GpuAsk } from "../../domain/workload.ts";

/** The devices that a pod has through one of its claims, and the number of bound pods that share the claim. */
export interface HeldClaim {
  readonly devices: readonly ClaimedDevice[];
  readonly sharers: number;
}

/**
 * Returns how much of a node's GPUs a pod holds by its requests and claims; 1 is a whole GPU. A claim counts as one GPU until its devices
 * are known. The ledger charges measured shares; this value is shown for a pod before its first hour has ended.
 */
export function heldGpus(
  asks: readonly GpuAsk[],
  gpus: readonly NodeGpus[],
  measure: MigMeasure,
  claimOf: (claim: string) => HeldClaim,
): Rational {
  return asks
    .map((ask) =>
      ask.kind === "claim"
        ? shareOfClaim(claimOf(ask.claim), gpus, measure)
        : shareOf(ask, kindFor(ask, gpus), measure),
    )
    .reduce(add, ZERO);
}

function shareOfClaim({ devices, sharers }: HeldClaim, gpus: readonly NodeGpus[], measure: MigMeasure): Rational {
  if (devices.length === 0) return ONE;
  const held = devices.map(({ consumed, partitions, profile }) => {
    if (consumed !== undefined) return rational(consumed.amount, consumed.of);
    if (partitions !== undefined) return rational(1, partitions);
    return profile === undefined ? ONE : instanceShare(profile, gpus[0], measure);
  });
  return multiply(held.reduce(add, ZERO), rational(1, Math.max(1, sharers)));
}

/** Returns the kind of a node's GPUs that fits a request; the node's first kind if nothing decides. */
function kindFor(ask: GpuAsk, gpus: readonly NodeGpus[]): NodeGpus | undefined {
  const isMeant = ({ vendor, mig }: NodeGpus): boolean => {
    if (ask.kind === "mig") return Object.keys(mig.profiles).some((profile) => isSameProfile(profile, ask.profile));
    return ask.kind !== "gpu" || (vendorOfResource(ask.resource) ?? vendor) === vendor;
  };
  return gpus.find(isMeant) ?? gpus[0];
}

function shareOf(ask: Exclude<GpuAsk, { kind: "claim" }>, gpu: NodeGpus | undefined, measure: MigMeasure): Rational {
  switch (ask.kind) {
    case "gpu":
      return rational(ask.count, unitsOf(ask.resource, gpu));
    case "mig":
      return multiply(rational(ask.count, replicasOf(gpu)), instanceShare(ask.profile, gpu, measure));
    case "vgpu":
      return multiply(rational(ask.count), vgpuShare(ask, memoryOf(gpu)).share);
    case "fraction":
      return multiply(rational(ask.count), fractionShare(ask, memoryOf(gpu)).share);
  }
}

/** Returns the units of a resource per GPU: its replicas if it is shared, its partitions if AMD's driver cuts it. */
function unitsOf(resource: string, gpu: NodeGpus | undefined): number {
  if (gpu?.partitions !== undefined && amdModeOf(resource) !== "spx") return gpu.partitions;
  return resource.endsWith(".shared") ? Math.max(1, gpu?.replicas ?? 1) : replicasOf(gpu);
}

function replicasOf(gpu: NodeGpus | undefined): number {
  return gpu === undefined || gpu.sharing === "none" ? 1 : Math.max(1, gpu.replicas);
}

function instanceShare(profile: string, gpu: NodeGpus | undefined, measure: MigMeasure): Rational {
  const found = migProductOf(gpu?.model, gpu?.memoryMiB);
  return migShare(migShapeOf(profile, found), found.product, measure);
}

function memoryOf(gpu: NodeGpus | undefined) {
  return gpu === undefined ? undefined : gpuMemoryOf(gpu);
}
