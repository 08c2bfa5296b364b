import type { CapacityType, SharingStrategy } from "../../../../domain/inventory.ts";

type Labels = Readonly<Record<string, string>>;

/** The labels of different clouds for the same property, in order of preference. */
const INSTANCE_TYPE = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
const REGION = ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];
const ZONE = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];
const POOL = [
  "karpenter.sh/nodepool",
  "eks.amazonaws.com/nodegroup",
  "cloud.google.com/gke-nodepool",
  "kubernetes.azure.com/agentpool",
  "agentpool",
  "oke.oraclecloud.com/pool.name",
  "alibabacloud.com/nodepool-id",
  "compute.coreweave.com/node-pool",
  "doks.digitalocean.com/node-pool",
  "ibm-cloud.kubernetes.io/worker-pool-name",
  "k8s.scaleway.com/pool-name",
  "kops.k8s.io/instancegroup",
  "lke.linode.com/pool-id",
  "vke.vultr.com/node-pool",
  "vks.vmware.com/nodepool",
  "worker.gardener.cloud/pool",
];
const DRIVER = ["nvidia.com/cuda.driver-version.full", "nvidia.com/gpu.driver-version"];
const CUDA = ["nvidia.com/cuda.runtime-version.full"];

/** The machine properties in a node's labels. */
export interface MachineLabels {
  readonly instanceType: string | undefined;
  readonly region: string | undefined;
  readonly zone: string | undefined;
  readonly pool: string | undefined;
  readonly capacityType: CapacityType | undefined;
  readonly driverVersion: string | undefined;
  readonly cudaVersion: string | undefined;
}

/** Reads the labels of all clouds. GFD before 0.16 has versions in parts. */
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

const ANY = "*";

/** The labels of provisioners and clouds for the capacity type. The first label with a known value counts. */
const CAPACITY_WORDS: readonly (readonly [label: string, words: Readonly<Record<string, CapacityType>>])[] = [
  ["karpenter.sh/capacity-type", { "on-demand": "on-demand", spot: "spot", reserved: "reserved" }],
  ["eks.amazonaws.com/capacityType", { ON_DEMAND: "on-demand", SPOT: "spot", CAPACITY_BLOCK: "reserved" }],
  ["spotinst.io/node-lifecycle", { od: "on-demand", spot: "spot" }],
  ["scheduling.cast.ai/spot", { true: "spot" }],
  ["node.kubernetes.io/lifecycle", { normal: "on-demand", "on-demand": "on-demand", spot: "spot" }],
  ["cloud.google.com/gke-spot", { true: "spot" }],
  ["cloud.google.com/gke-preemptible", { true: "spot" }],
  ["cloud.google.com/gke-provisioning", { spot: "spot", preemptible: "spot" }],
  ["cloud.google.com/reservation-name", { [ANY]: "reserved" }],
  // A reserved node is standard, too.
  ["cloud.google.com/gke-provisioning", { standard: "on-demand" }],
  ["kubernetes.azure.com/scalesetpriority", { spot: "spot", regular: "on-demand" }],
  ["oci.oraclecloud.com/oke-is-preemptible", { true: "spot" }],
  ["node.alibabacloud.com/spot-strategy", { SpotWithPriceLimit: "spot", SpotAsPriceGo: "spot" }],
  ["node.alibabacloud.com/instance-charge-type", { PrePaid: "reserved", PostPaid: "on-demand" }],
];

/**
 * Labels that every node of GKE, AKS and OKE has. These clouds label only spot and reserved nodes, so another node is on demand. A
 * reservation that GKE uses automatically has the on-demand price.
 */
const ON_DEMAND_MARKS = [
  "cloud.google.com/gke-nodepool",
  "kubernetes.azure.com/agentpool",
  "kubernetes.azure.com/cluster",
  "oci.oraclecloud.com/fault-domain",
];

/** Returns the capacity type of the machine; undefined if neither a provisioner nor a cloud has a label for it. */
function capacityType(labels: Labels): CapacityType | undefined {
  for (const [label, words] of CAPACITY_WORDS) {
    const word = labels[label];
    const type = word === undefined || word === "" ? undefined : (words[word] ?? words[ANY]);
    if (type !== undefined) return type;
  }
  return ON_DEMAND_MARKS.some((label) => labels[label] !== undefined) ? "on-demand" : undefined;
}

/**
 * Returns the node's sharing strategy for NVIDIA GPUs, from GFD's label, otherwise from GKE's
 * (https://cloud.google.com/kubernetes-engine/docs/concepts/timesharing-gpus).
 */
export function sharingOf(labels: Labels): SharingStrategy {
  const word = labels["nvidia.com/gpu.sharing-strategy"] ?? labels["cloud.google.com/gke-gpu-sharing-strategy"];
  if (word === "mps") return "mps";
  return word === "time-slicing" || word === "time-sharing" ? "time-slicing" : "none";
}

/** Returns the value of the first label that has one; undefined if none has. */
export function first(labels: Labels, names: readonly string[]): string | undefined {
  for (const name of names) if (labels[name] !== undefined && labels[name] !== "") return labels[name];
  return undefined;
}
