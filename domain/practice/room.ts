import type { Compute } from "../compute.ts";
import type { PracticeNode, PracticeWorkload } from "./facts.ts";
import { cpuText, memoryText, roundCpu, roundMemory } from "./quantity.ts";

/** A pod with GPUs on its node. */
export interface PlacedPod {
  readonly workload: PracticeWorkload;
  /** Whole GPUs; undefined if the pod requests others too. */
  readonly gpus: number | undefined;
  /** Undefined in facts of releases before 0.4. */
  readonly requested: Compute | undefined;
}

/** A placed pod whose whole GPUs and requests are known. */
export type KnownPod = PlacedPod & { readonly gpus: number; readonly requested: Compute };

/** CPU or memory. */
export interface ComputeResource {
  /** The name in a sentence. */
  readonly name: string;
  /** The name in a pod's requests. */
  readonly key: "cpu" | "memory";
  readonly of: keyof Compute;
  /** Returns an amount as a quantity of Kubernetes, rounded down. */
  readonly quantity: (amount: number) => string;
}

const RESOURCES: readonly ComputeResource[] = [
  { name: "CPU", key: "cpu", of: "cpuMillicores", quantity: (amount) => cpuText(roundCpu(amount)) },
  { name: "memory", key: "memory", of: "memoryBytes", quantity: (amount) => memoryText(roundMemory(amount)) },
];

/** The free GPUs of a node, and how many of them CPU and memory are left for. */
export interface Room {
  /** At least 1. */
  readonly free: number;
  /** The free GPUs for which less than half of a fair part of CPU or memory is left. */
  readonly stranded: number;
  /** The resources of which less is left than the free GPUs need. */
  readonly scarce: readonly ComputeResource[];
  readonly pods: readonly KnownPod[];
}

/**
 * Returns the room on a node with whole GPUs; undefined if no GPU is free, or if the facts do not have all that the pods on the node hold.
 */
export function roomOn(node: PracticeNode, placed: readonly PlacedPod[]): Room | undefined {
  const { compute, others } = node;
  const pods = placed.filter((pod): pod is KnownPod => pod.gpus !== undefined && pod.requested !== undefined);
  if (compute === undefined || pods.length < placed.length || !node.gpus.every(isWhole)) return undefined;
  const count = gpusOf(node);
  const free = Math.min(count, offeredBy(node)) - pods.reduce((sum, { gpus }) => sum + gpus, 0);
  if (free <= 0) return undefined;
  const held = requestedBy(pods);
  const usable = RESOURCES.map(({ of }) => {
    const left = compute[of] - held[of] - (others?.requested[of] ?? 0);
    const halves = compute[of] > 0 ? Math.floor((2 * left * count) / compute[of]) : free;
    return Math.max(0, Math.min(free, halves));
  });
  return {
    free,
    stranded: free - Math.min(...usable),
    scarce: RESOURCES.filter((_, index) => usable[index]! < free),
    pods,
  };
}

/** Returns the fair part of a node's CPU or memory for a number of its GPUs. The node has the resource. */
export function fairPart(node: PracticeNode, { of }: ComputeResource, gpus: number): number {
  return (node.compute![of] * gpus) / gpusOf(node);
}

/** Returns how much more is requested than the fair part of some GPUs, in fair parts of one GPU. The node has the resource. */
export function surplusOver(node: PracticeNode, { of }: ComputeResource, requested: Compute, gpus: number): number {
  return (requested[of] * gpusOf(node) - node.compute![of] * gpus) / node.compute![of];
}

/** Returns the sum of the requests of pods. */
export function requestedBy(pods: readonly KnownPod[]): Compute {
  return {
    cpuMillicores: pods.reduce((sum, { requested }) => sum + requested.cpuMillicores, 0),
    memoryBytes: pods.reduce((sum, { requested }) => sum + requested.memoryBytes, 0),
  };
}

/** Returns a function that returns the pods with GPUs on a node. */
export function placedPods(workloads: readonly PracticeWorkload[]): (node: PracticeNode) => readonly PlacedPod[] {
  const placed = new Map<string, PlacedPod[]>();
  for (const workload of workloads) {
    for (const pod of workload.pods) {
      if (pod.node === "") continue;
      const key = JSON.stringify([pod.cluster, pod.node]);
      const group = placed.get(key);
      if (group === undefined) placed.set(key, [placedPod(workload, pod)]);
      else group.push(placedPod(workload, pod));
    }
  }
  return ({ cluster, node }) => placed.get(JSON.stringify([cluster, node])) ?? [];
}

function placedPod(workload: PracticeWorkload, pod: PracticeWorkload["pods"][number]): PlacedPod {
  const { compute } = pod;
  const requested = compute && {
    cpuMillicores: compute.cpuRequestMillicores ?? 0,
    memoryBytes: compute.memoryRequestBytes ?? 0,
  };
  return { workload, gpus: wholeGpusOf(pod), requested };
}

/** Returns the whole GPUs that a pod requests; undefined if the pod requests MIG instances, shares or claims. */
export function wholeGpusOf({ asks }: PracticeWorkload["pods"][number]): number | undefined {
  let gpus = 0;
  for (const ask of asks) {
    if (ask.kind !== "gpu") return undefined;
    gpus += ask.count;
  }
  return gpus;
}

/** Returns whether GPUs are neither shared nor divided. */
export function isWhole({ sharing, replicas, partitions, mig }: PracticeNode["gpus"][number]): boolean {
  return sharing === "none" && replicas === 1 && partitions === undefined && Object.keys(mig.profiles).length === 0;
}

/** Returns the number of physical GPUs of a node. */
export function gpusOf({ gpus }: PracticeNode): number {
  return gpus.reduce((sum, { count }) => sum + count, 0);
}

/** Returns the number of GPUs that pods can get. An unhealthy one is not among them. */
function offeredBy({ allocatable }: PracticeNode): number {
  return Object.values(allocatable).reduce((sum, amount) => sum + amount, 0);
}
