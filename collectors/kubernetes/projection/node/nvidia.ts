import type { NodeGpus } from "../../../../domain/inventory.ts";
import { gpuResource } from "../gpu-resource.ts";
import { parseCount } from "../quantity.ts";
import type { Remarks } from "../remark.ts";
import { given } from "../wire.ts";
import { first, sharingOf } from "./labels.ts";
import { readRegister } from "./register.ts";

type Labels = Readonly<Record<string, string>>;
type Amounts = Readonly<Record<string, number>>;

const MODEL = ["nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "karpenter.k8s.aws/instance-gpu-name"];
const COUNT = [
  "nvidia.com/gpu.count",
  "cloud.google.com/gke-accelerator-count",
  "karpenter.k8s.aws/instance-gpu-count",
];
const MEMORY = ["nvidia.com/gpu.memory", "karpenter.k8s.aws/instance-gpu-memory"];
const REPLICAS = ["nvidia.com/gpu.replicas", "cloud.google.com/gke-max-shared-clients-per-gpu"];

/** How GFD ends a product's name where GPUs are shared or, with the single strategy, cut into instances. */
const SUFFIX = /(?:-MIG-((?:\d+c\.)?\d+g\.\d+gb[\w.+-]*?))?(-SHARED)?$/;

/**
 * The NVIDIA GPUs of a node, from the labels of GFD, GKE or Karpenter, from HAMi's or Volcano's register, else from the
 * capacity alone. With the single MIG strategy GFD counts instances and gives their memory
 * (https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery): the GPUs are then worked out from
 * how many instances fit on one.
 */
export function readNvidia(
  labels: Labels,
  annotations: Readonly<Record<string, string>>,
  capacity: Amounts,
  remarks: Remarks,
): NodeGpus | undefined {
  const registered = readRegister(annotations, remarks);
  const product = first(labels, MODEL) ?? registered?.model;
  const [suffix = "", profile, shared] = SUFFIX.exec(product ?? "") ?? [];
  const model = product?.slice(0, product.length - suffix.length);
  const counted = count(first(labels, COUNT)) ?? registered?.count;
  const replicas = Math.max(1, count(first(labels, REPLICAS)) ?? 1);
  const whole = (capacity["nvidia.com/gpu"] ?? 0) + (capacity["nvidia.com/gpu.shared"] ?? 0);

  const profiles = readProfiles(labels, capacity);
  let gpus = counted;
  if (profile !== undefined) {
    const instances = counted ?? Math.ceil(whole / replicas);
    if (instances > 0) profiles[plus(profile)] = instances;
    gpus = instances === 0 ? undefined : Math.ceil(instances / mostInstances(profile, model ?? ""));
    if (gpus !== undefined)
      derived(remarks, `${instances} instances of ${profile}, the most that fit on a GPU of this model`, gpus);
  } else if (gpus === undefined) {
    const cut = Object.entries(profiles).reduce((sum, [name, n]) => sum + n * slices(name), 0);
    gpus = Math.ceil(whole / replicas) + Math.ceil(cut / slicesOf(model ?? ""));
    if (cut > 0) derived(remarks, "the slices of its MIG instances", gpus);
  }
  if (gpus === undefined || gpus === 0) return undefined;
  const memoryMiB = profile === undefined ? (count(first(labels, MEMORY)) ?? registered?.memoryMiB) : undefined;
  const sharing = sharingOf(labels);
  const unnamed = sharing === "none" && (replicas > 1 || shared !== undefined);
  return {
    vendor: "nvidia",
    count: gpus,
    replicas,
    sharing: unnamed ? "time-slicing" : sharing,
    mig: { strategy: strategyOf(labels, profile !== undefined, profiles), profiles },
    ...given({ model, memoryMiB: memoryMiB === 0 ? undefined : memoryMiB }),
  };
}

/**
 * The strategy by which instances are offered. GFD writes the configured one on models without MIG too; resources named
 * after profiles exist with the mixed one only.
 */
function strategyOf(
  labels: Labels,
  isInstanceProduct: boolean,
  profiles: Readonly<Record<string, number>>,
): NodeGpus["mig"]["strategy"] {
  const word = labels["nvidia.com/mig.strategy"];
  if (isInstanceProduct) return "single";
  if (Object.keys(profiles).length > 0) return "mixed";
  const capable = labels["nvidia.com/mig.capable"] !== "false";
  return capable && (word === "single" || word === "mixed") ? word : "none";
}

function derived(remarks: Remarks, from: string, gpus: number): void {
  remarks.push({ reason: "derived", text: `No label counts its GPUs; they are worked out from ${from}: ${gpus}.` });
}

/** Instances by profile: GFD's labels `mig-<profile>.count` of the mixed strategy, else the capacity. */
function readProfiles(labels: Labels, capacity: Amounts): Record<string, number> {
  const profiles: Record<string, number> = {};
  for (const [name, value] of Object.entries(labels)) {
    if (!name.startsWith("nvidia.com/mig-") || !name.endsWith(".count")) continue;
    const resource = gpuResource(name.slice(0, -".count".length));
    const instances = count(value) ?? 0;
    if (resource?.kind === "mig" && instances > 0) profiles[resource.profile] = instances;
  }
  if (Object.keys(profiles).length > 0) return profiles;
  for (const [name, amount] of Object.entries(capacity)) {
    const resource = gpuResource(name);
    if (resource?.kind === "mig" && amount > 0) profiles[resource.profile] = amount;
  }
  return profiles;
}

function count(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const parsed = parseCount(value);
  return "value" in parsed ? parsed.value : undefined;
}

function plus(profile: string): string {
  return profile.replace(/\.(me|gfx)/g, "+$1");
}

/** Compute slices of a profile: 3 of `3g.40gb`. */
function slices(profile: string): number {
  return Number(/(\d+)g\./.exec(profile)?.[1] ?? 1);
}

/** An A30 has four compute slices, every other model seven. */
function slicesOf(model: string): number {
  return /\bA30\b/.test(model) ? 4 : 7;
}

/**
 * How many instances of a profile fit on one GPU: by compute slices, and by its memory where the model's name tells it.
 */
function mostInstances(profile: string, model: string): number {
  const byCompute = Math.floor(slicesOf(model) / slices(profile));
  const memoryGb = Number(/\.(\d+)gb/.exec(profile)?.[1] ?? 0);
  const wholeGb = Number(
    /(\d+)GB/.exec(model)?.[1] ?? (/\bH200\b/.test(model) ? 141 : /\bB200\b/.test(model) ? 180 : 0),
  );
  const byMemory = wholeGb === 0 || memoryGb === 0 ? byCompute : Math.round(wholeGb / memoryGb);
  return Math.max(1, Math.min(byCompute, byMemory));
}
