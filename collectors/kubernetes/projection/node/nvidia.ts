import { gpusOfInstanceType } from "../../../../domain/gpu-model/instance-types.ts";
import { canonicalModel, vendorOfModel } from "../../../../domain/gpu-model/names.ts";
import type { GpuCount, NodeGpus } from "../../../../domain/inventory.ts";
import { gpusForInstances, offeredOn, physicalDevices, withInstancesOn } from "../../../../domain/share/node-gpus.ts";
import { gpuResource, type ResourceNames } from "../gpu-resource.ts";
import type { Remarks } from "../remark.ts";
import { given } from "../wire.ts";
import { countIn, countWithRemarks, vendorOf, type NodeEvidence } from "./evidence.ts";
import { first, sharingOf } from "./labels.ts";
import { readRegister } from "./register.ts";

type Labels = Readonly<Record<string, string>>;
type Amounts = Readonly<Record<string, number>>;

const GFD_MODEL = "nvidia.com/gpu.product";
const GFD_COUNT = "nvidia.com/gpu.count";
const GFD_MEMORY = "nvidia.com/gpu.memory";
/**
 * Labels of clouds and of Karpenter's providers: GKE, EKS Auto Mode, AKS' node auto-provisioning, CoreWeave, Alibaba. Their counts are of
 * physical GPUs, independent of MIG and sharing.
 */
const CLOUD_MODEL = [
  "cloud.google.com/gke-accelerator",
  "karpenter.k8s.aws/instance-gpu-name",
  "eks.amazonaws.com/instance-gpu-name",
  "karpenter.azure.com/sku-gpu-name",
  "karpenter.k8s.gcp/instance-gpu-name",
  "gpu.nvidia.com/model",
  "aliyun.accelerator/nvidia_name",
];
const CLOUD_COUNT = [
  "cloud.google.com/gke-accelerator-count",
  "karpenter.k8s.aws/instance-gpu-count",
  "eks.amazonaws.com/instance-gpu-count",
  "karpenter.azure.com/sku-gpu-count",
  "karpenter.k8s.gcp/instance-gpu-count",
  "gpu.nvidia.com/count",
  "aliyun.accelerator/nvidia_count",
];
const CLOUD_MEMORY = [
  "karpenter.k8s.aws/instance-gpu-memory",
  "eks.amazonaws.com/instance-gpu-memory",
  "karpenter.k8s.gcp/instance-gpu-memory",
];
const REPLICAS = ["nvidia.com/gpu.replicas", "cloud.google.com/gke-max-shared-clients-per-gpu"];
/**
 * The label with which GKE cuts all GPUs of a node into instances of one profile
 * (https://cloud.google.com/kubernetes-engine/docs/how-to/gpus-multi).
 */
const GKE_PARTITION = "cloud.google.com/gke-gpu-partition-size";

/** The suffix that GFD adds to a product's name if GPUs are shared or, with the single strategy, cut into instances. */
const SUFFIX = /(?:-MIG-((?:\d+c\.)?\d+g\.\d+gb[\w.+-]*?))?(-SHARED)?$/;

/**
 * Reads the NVIDIA GPUs of a node: their count by all evidence in its objects, their model, and what the device plugin offers of them. With
 * the single MIG strategy GFD counts instances and reports their memory
 * (https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery). Undefined without a count above 0.
 */
export function readNvidia(
  evidence: NodeEvidence,
  names: ResourceNames | undefined,
  remarks: Remarks,
): NodeGpus | undefined {
  const { labels, annotations, capacity, instanceType } = evidence;
  const slices = evidence.slices.filter((device) => (vendorOf(device) ?? "nvidia") === "nvidia");
  const registered = readRegister("nvidia", annotations, remarks);
  const ofType = instanceType === undefined ? undefined : gpusOfInstanceType(instanceType);
  const typed = ofType === undefined || vendorOfModel(ofType.model) !== "nvidia" ? undefined : ofType;
  const [suffix = "", profileOfProduct, shared] = SUFFIX.exec(labels[GFD_MODEL] ?? "") ?? [];
  const product = labels[GFD_MODEL]?.slice(0, labels[GFD_MODEL].length - suffix.length);
  const ofCloud = [CLOUD_MODEL, CLOUD_MEMORY].map((names) => first(labels, names));
  const modelled = slices.filter(({ model }) => model !== undefined);
  const published = modelled.find(({ profile }) => profile === undefined);
  const written = product ?? (published ?? modelled[0])?.model ?? ofCloud[0] ?? registered?.model ?? typed?.model;
  const gfdMemory = profileOfProduct === undefined ? countIn(labels[GFD_MEMORY]) : undefined;
  const ownMemory = (gfdMemory ?? published?.memoryMiB) || undefined;
  const memoryMiB = (ownMemory ?? registered?.memoryMiB ?? countIn(ofCloud[1])) || undefined;
  const model = written === undefined ? undefined : canonicalModel(written, memoryMiB);
  const memoryUnits = unitsOf(registered?.memoryMiB, ownMemory);

  const units = Object.entries(capacity).reduce((sum, [name, amount]) => {
    const resource = gpuResource(name, names);
    return resource?.kind === "gpu" && resource.vendor === "nvidia" ? sum + amount : sum;
  }, 0);
  const replicas = Math.max(1, countIn(first(labels, REPLICAS)) ?? 1);
  const profile = profileOfProduct ?? first(labels, [GKE_PARTITION]);
  const counted = countIn(labels[GFD_COUNT]);
  const instances = profileOfProduct === undefined ? undefined : counted;
  const profiles = readProfiles(labels, capacity);
  if (profile !== undefined) {
    const all = instances ?? Math.floor(units / replicas);
    if (all > 0) profiles[plus(profile)] = all;
  }

  const isCut = Object.keys(profiles).length > 0;
  const whole = profile === undefined ? Math.ceil(units / replicas) : 0;
  const counts: GpuCount[] = [{ by: "slices", count: physicalDevices(slices).length }];
  if (profileOfProduct === undefined) counts.push({ by: "label", count: counted ?? 0 });
  counts.push(
    { by: "label", count: countIn(first(labels, CLOUD_COUNT)) ?? 0 },
    { by: "register", count: registered?.count ?? 0 },
    { by: "instance-type", count: typed?.count ?? 0 },
    isCut
      ? { by: "instances", count: whole + Math.ceil(gpusForInstances(profiles, given({ model, memoryMiB }))) }
      : { by: "capacity", count: whole },
  );
  const taken = countWithRemarks(counts, remarks);
  if (taken === undefined) return undefined;
  const { count } = taken;
  const sharing = sharingOf(labels);
  const kind: NodeGpus = {
    vendor: "nvidia",
    ...taken,
    replicas,
    sharing: sharing === "none" && (replicas > 1 || shared !== undefined) ? "time-slicing" : sharing,
    mig: { strategy: strategyOf(labels, profile !== undefined, profiles), profiles },
    // HAMi and Volcano offer shares. A pod's own requests have their size.
    ...given({
      model,
      memoryMiB,
      memoryUnits,
      offered: isCut || units === 0 || registered !== undefined ? undefined : units,
    }),
  };
  if (isCut) return withInstancesOn(kind, count);
  return replicas > 1 ? kind : offeredOn(kind, count);
}

/** The largest part of a GPU's memory that is registered in MiB: plugins keep a little for themselves, and factors are whole numbers. */
const LEAST_IN_MIB = 0.75;

/**
 * Returns the registered memory if it is in larger units than MiB, as with Volcano's `gpu-memory-factor`: 1638 units of 10 MiB on a GPU with
 * 16,384 MiB (https://github.com/Project-HAMi/volcano-vgpu-device-plugin/blob/main/pkg/plugin/register.go).
 */
function unitsOf(registered: number | undefined, ownMiB: number | undefined): number | undefined {
  if (registered === undefined || ownMiB === undefined) return undefined;
  return registered < ownMiB * LEAST_IN_MIB ? registered : undefined;
}

/**
 * Returns the strategy by which instances are offered. GFD also writes the configured one on models without MIG. Resources named after
 * profiles exist only with the mixed strategy.
 */
function strategyOf(
  labels: Labels,
  isOfOneProfile: boolean,
  profiles: Readonly<Record<string, number>>,
): NodeGpus["mig"]["strategy"] {
  const word = labels["nvidia.com/mig.strategy"];
  if (isOfOneProfile) return "single";
  if (Object.keys(profiles).length > 0) return "mixed";
  const capable = labels["nvidia.com/mig.capable"] !== "false";
  return capable && (word === "single" || word === "mixed") ? word : "none";
}

/** Reads instances by profile: GFD's labels `mig-<profile>.count` of the mixed strategy, otherwise the capacity. */
function readProfiles(labels: Labels, capacity: Amounts): Record<string, number> {
  const profiles: Record<string, number> = {};
  for (const [name, value] of Object.entries(labels)) {
    if (!name.startsWith("nvidia.com/mig-") || !name.endsWith(".count")) continue;
    const resource = gpuResource(name.slice(0, -".count".length));
    const instances = countIn(value) ?? 0;
    if (resource?.kind === "mig" && instances > 0) profiles[resource.profile] = instances;
  }
  if (Object.keys(profiles).length > 0) return profiles;
  for (const [name, amount] of Object.entries(capacity)) {
    const resource = gpuResource(name);
    if (resource?.kind === "mig" && amount > 0) profiles[resource.profile] = (profiles[resource.profile] ?? 0) + amount;
  }
  return profiles;
}

function plus(profile: string): string {
  return profile.replace(/\.(me|gfx)/g, "+$1");
}
