import type { CapacityType, SharingStrategy } from "../../../../domain/inventory.ts";

type Labels = Readonly<Record<string, string>>;

/** Labels of every cloud for one and the same thing, the preferred first. */
const INSTANCE_TYPE = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
const REGION = ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];
const ZONE = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];
const POOL = [
  "karpenter.sh/nodepool",
  "eks.amazonaws.com/nodegroup",
  "cloud.google.com/gke-nodepool",
  "kubernetes.azure.com/agentpool",
  "agentpool",
  "lke.linode.com/pool-id",
  "vks.vmware.com/nodepool",
];
const DRIVER = ["nvidia.com/cuda.driver-version.full", "nvidia.com/gpu.driver-version"];
const CUDA = ["nvidia.com/cuda.runtime-version.full"];

/** What a node's labels say of the machine that it is. */
export interface MachineLabels {
  readonly instanceType: string | undefined;
  readonly region: string | undefined;
  readonly zone: string | undefined;
  readonly pool: string | undefined;
  readonly capacityType: CapacityType | undefined;
  readonly driverVersion: string | undefined;
  readonly cudaVersion: string | undefined;
}

/** Reads every cloud's labels. GFD before 0.16 gives versions in parts. */
export function readMachine(labels: Labels): MachineLabels {
  const parts = (...names: readonly string[]): string | undefined => {
    const values = names.map((name) => labels[`nvidia.com/cuda.${name}`]);
    return values.every((value) => value !== undefined) ? values.join(".") : undefined;
  };
  return {
    instanceType: first(labels, INSTANCE_TYPE),
    region: first(labels, REGION),
    zone: first(labels, ZONE),
    pool: first(labels, POOL),
    capacityType: capacityType(labels),
    driverVersion: first(labels, DRIVER) ?? parts("driver.major", "driver.minor", "driver.rev"),
    cudaVersion: first(labels, CUDA) ?? parts("runtime.major", "runtime.minor"),
  };
}

/**
 * How the machine is paid for, by the word of Karpenter, EKS, GKE or AKS. A GKE node without a word may be on demand or
 * reserved: that stays open.
 */
function capacityType(labels: Labels): CapacityType | undefined {
  const karpenter = labels["karpenter.sh/capacity-type"];
  if (karpenter === "on-demand" || karpenter === "spot" || karpenter === "reserved") return karpenter;
  const eks = labels["eks.amazonaws.com/capacityType"];
  if (eks === "ON_DEMAND") return "on-demand";
  if (eks === "SPOT") return "spot";
  if (eks === "CAPACITY_BLOCK") return "reserved";
  const gke = ["cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible"];
  if (gke.some((label) => labels[label] === "true")) return "spot";
  const azure = labels["kubernetes.azure.com/scalesetpriority"];
  if (azure === "spot") return "spot";
  return azure === "regular" ? "on-demand" : undefined;
}

/**
 * How the node gives one NVIDIA GPU to several: GFD's word, else GKE's
 * (https://cloud.google.com/kubernetes-engine/docs/concepts/timesharing-gpus).
 */
export function sharingOf(labels: Labels): SharingStrategy {
  const word = labels["nvidia.com/gpu.sharing-strategy"] ?? labels["cloud.google.com/gke-gpu-sharing-strategy"];
  if (word === "mps") return "mps";
  return word === "time-slicing" || word === "time-sharing" ? "time-slicing" : "none";
}

/** The first of the labels that has a value. */
export function first(labels: Labels, names: readonly string[]): string | undefined {
  for (const name of names) if (labels[name] !== undefined && labels[name] !== "") return labels[name];
  return undefined;
}
