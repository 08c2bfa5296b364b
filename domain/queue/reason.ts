import { counted } from "../counted.ts";

/** Why a pod waits and what would end it, in words. */
export interface WaitReason {
  readonly why: string;
  /** Empty if it is not known. */
  readonly endsWith: string;
}

/**
 * Returns the reason of a waiting pod in words, from the reason and the message of its condition PodScheduled. The parts of the message are those
 * of Kubernetes' scheduler plugins (https://kubernetes.io/docs/reference/scheduling/config/#scheduling-plugins), of KAI and of HAMi.
 */
export function waitReason(pod: {
  readonly reason: string;
  readonly message: string;
  readonly queue: string;
  /** The devices and pods of a gang are of all its waiting pods. */
  readonly devices: number;
  readonly pods: number;
}): WaitReason {
  const { reason, message, queue, devices, pods } = pod;
  const [, resource] = /Insufficient (\S+?)[.,;]?(?:\s|$)/.exec(message) ?? [];
  if (reason === "SchedulingGated")
    return {
      why: "held back by a scheduling gate",
      endsWith: queue === "" ? "its controller removes the gate" : `quota in the queue ${queue}`,
    };
  if (resource !== undefined) {
    const wanted = isOfGpu(resource) ? counted(devices, "free GPU") : `free ${resource}`;
    return {
      why: `no node has enough free ${resource}`,
      endsWith: pods === 1 ? `a node with ${wanted}` : `nodes with ${wanted} for its ${pods} pods`,
    };
  }
  for (const [part, words] of PARTS) if (message.includes(part)) return words;
  return { why: reason, endsWith: "" };
}

function isOfGpu(resource: string): boolean {
  return resource.includes("/");
}

const PARTS: readonly (readonly [part: string, words: WaitReason])[] = [
  ["exceeded quota", { why: "the namespace's quota is used up", endsWith: "quota in the namespace" }],
  [
    "untolerated taint",
    { why: "nodes have a taint that it does not tolerate", endsWith: "a node without the taint, or a toleration" },
  ],
  ["node affinity/selector", { why: "no node matches its selector", endsWith: "a node with the wanted labels" }],
  ["were unschedulable", { why: "nodes are cordoned", endsWith: "nodes that are uncordoned" }],
  [
    "volume node affinity",
    { why: "its volume is in another zone or on another node", endsWith: "a free GPU where its volume is" },
  ],
  ["unbound immediate PersistentVolumeClaims", { why: "its volume is not bound", endsWith: "a volume for its claim" }],
  [
    "pod topology spread",
    { why: "its topology spread allows no node", endsWith: "a free GPU in another topology domain" },
  ],
  [
    "enough resources: GPUs",
    { why: "no node has enough free GPUs", endsWith: "a node with enough free GPUs or parts of a GPU" },
  ],
  [
    "node unregistered",
    { why: "HAMi has no GPU of the nodes", endsWith: "a node whose GPUs HAMi’s device plugin has registered" },
  ],
  ["cannot allocate all claims", { why: "no node can allocate its claims", endsWith: "free devices for its claims" }],
];
