import { counted } from "../../counted.ts";
import type { Compute } from "../../compute.ts";
import { lastUnits } from "../../exact/units.ts";
import { affectedNode, inTemplate } from "../affected.ts";
import { createCheck } from "../check.ts";
import type { PracticeNode } from "../facts.ts";
import { groupBy } from "../../grouped.ts";
import {
  fairPart,
  placedPods,
  requestedBy,
  roomOn,
  surplusOver,
  type ComputeResource,
  type KnownPod,
  type Room,
} from "../room.ts";

/** The most holders that the detail of a node names. */
const MOST_HOLDERS = 3;
/** The least that the pods without GPUs hold if they are named, in fair parts of a GPU. */
const LEAST_OF_OTHERS = 0.5;

/** Nodes whose free GPUs no pod can use. */
export const cpuOrMemoryGone = createCheck(
  {
    name: "cpu-or-memory-gone",
    severity: "high",
    title: "Free GPUs without CPU or memory",
    what: "For at least one of the free GPUs of a node, less than half of a GPU's fair part of the node's CPU or memory is free. The fair part is the allocatable amount, divided by the node's GPUs. Pods with and without GPUs count by their requests; pods of DaemonSets and static pods do not count. Nodes that are cordoned, and nodes whose GPUs are shared or divided, are left out.",
    why: "A pod that needs a GPU needs CPU and memory too. The pod waits, or a new node is bought for it, although a GPU is free.",
    amount: "the cost of the nodes' free time × (these GPUs ÷ all free GPUs of the nodes now)",
    states: ["unallocated"],
    fix: ({ name, value }) =>
      `kubectl get pods -A -o wide --field-selector spec.nodeName=${name}${value === "" ? "" : `\n${value}`}`,
  },
  ({ nodes, workloads }) => {
    const podsOn = placedPods(workloads);
    return nodes.flatMap((node) => {
      const room = node.cordonedSince === undefined ? roomOn(node, podsOn(node)) : undefined;
      if (room === undefined || room.stranded === 0) return [];
      const { free, stranded, scarce } = room;
      const holders = holdersOn(node, room);
      const lack = scarce.map(({ name }) => name).join(" and ");
      const named = holders.slice(0, MOST_HOLDERS).map(({ text }) => text);
      return affectedNode(node, {
        detail: `${stranded} of ${free} free GPUs without ${lack}: ${named.join(", ")}`,
        value: holders[0]?.fix ?? "",
        atStake: lastUnits((node.spend.unallocated * BigInt(stranded)) / BigInt(free)),
      });
    });
  },
);

/** A workload on a node, or the pods without GPUs on it, with more than the fair part of its GPUs. */
interface Holder {
  /** The larger surplus of CPU and memory, in fair parts of a GPU. */
  readonly surplus: number;
  readonly text: string;
  /** The lines of the template; empty for pods without GPUs. */
  readonly fix: string;
}

/** Returns the holders of too much, the largest surplus first. */
function holdersOn(node: PracticeNode, { pods, scarce }: Room): readonly Holder[] {
  const workloads = groupBy(pods, ({ workload: { namespace, kind, name } }) => [namespace, kind, name]);
  return [...workloads.flatMap((own) => workloadOn(node, own, scarce)), ...othersOn(node, scarce)].toSorted(
    (a, b) => b.surplus - a.surplus,
  );
}

function workloadOn(
  node: PracticeNode,
  pods: readonly [KnownPod, ...KnownPod[]],
  scarce: readonly ComputeResource[],
): readonly Holder[] {
  const [{ workload }] = pods;
  const gpus = pods.reduce((sum, pod) => sum + pod.gpus, 0);
  const requested = requestedBy(pods);
  const over = scarce.filter((resource) => surplusOver(node, resource, requested, gpus) > 0);
  if (over.length === 0) return [];
  const { kind, namespace, name } = workload;
  const has = over.map(
    (resource) => `${amountText(resource, requested)} (fair: ${resource.quantity(fairPart(node, resource, gpus))})`,
  );
  return [
    {
      surplus: largestSurplus(node, over, requested, gpus),
      text: `${kind} ${namespace}/${name} with ${gpus} ${gpus === 1 ? "GPU" : "GPUs"} has ${has.join(" and ")}`,
      fix: inTemplate({ kind, namespace, name, value: "" }, fairRequest(node, pods, over)),
    },
  ];
}

function othersOn(node: PracticeNode, scarce: readonly ComputeResource[]): readonly Holder[] {
  const { others } = node;
  if (others === undefined) return [];
  const surplus = largestSurplus(node, scarce, others.requested, 0);
  if (surplus < LEAST_OF_OTHERS) return [];
  const has = scarce.map((resource) => amountText(resource, others.requested));
  return [
    {
      surplus,
      text: `${counted(others.pods, "pod")} without GPUs ${others.pods === 1 ? "has" : "have"} ${has.join(" and ")}`,
      fix: "",
    },
  ];
}

function largestSurplus(
  node: PracticeNode,
  resources: readonly ComputeResource[],
  requested: Compute,
  gpus: number,
): number {
  return Math.max(...resources.map((resource) => surplusOver(node, resource, requested, gpus)));
}

function amountText({ name, of, quantity }: ComputeResource, requested: Compute): string {
  return `${quantity(requested[of])} ${name}`;
}

/** Returns the line with the fair requests of the pod with the most GPUs. Its limit of memory is the request. */
function fairRequest(node: PracticeNode, pods: readonly KnownPod[], over: readonly ComputeResource[]): string {
  const gpus = Math.max(...pods.map((pod) => pod.gpus));
  const fair = over.map((resource) => ({ ...resource, text: resource.quantity(fairPart(node, resource, gpus)) }));
  const requests = fair.map(({ key, text }) => `${key}: ${key === "cpu" ? `"${text}"` : text}`).join(", ");
  const memory = fair.find(({ key }) => key === "memory");
  const limits = memory === undefined ? "" : `, limits: { memory: ${memory.text} }`;
  return `resources: { requests: { ${requests} }${limits} }   # of all containers of the pod together`;
}
