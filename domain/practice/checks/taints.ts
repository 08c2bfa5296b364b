import { counted } from "../../counted.ts";
import { affectedNode, affectedWorkload, inTemplate } from "../affected.ts";
import { createCheck, partOf, type FixOf } from "../check.ts";
import type { PracticeNode } from "../facts.ts";

/** Taints that Kubernetes, autoscalers and agents add for a time. They end, and do not keep pods without GPUs away. */
const PASSING = [
  /^node\.(kubernetes|cloudprovider\.kubernetes)\.io\//,
  // https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/utils/taints/taints.go
  /^(ToBeDeletedBy|DeletionCandidateOf)ClusterAutoscaler$/,
  /^(ignore|startup|status)-taint\.cluster-autoscaler\.kubernetes\.io\//,
  // https://karpenter.sh/docs/concepts/disruption/
  /^karpenter\.sh\//,
  /\/agent-not-ready$/,
];
const KEEPS_AWAY = new Set(["NoSchedule", "NoExecute"]);
/** The part of a node from which its pods without GPUs count: less is in the reserve of every node. */
const LEAST_PART = 0.05;

const taintOf = ({ name, value }: FixOf): string =>
  `kubectl taint nodes ${name} ${value}=present:NoSchedule --overwrite`;

/** GPU nodes on which any pod can be placed. */
export const gpuNodeWithoutTaint = createCheck(
  {
    name: "gpu-node-without-taint",
    severity: "medium",
    title: "GPU nodes without a taint",
    what: "A GPU node has no `NoSchedule` or `NoExecute` taint other than those that Kubernetes and autoscalers add for a time.",
    why: "Pods without GPUs can be placed on the node. They take its CPUs and memory, and its GPUs then stay free although pods wait for them. Put the taint into the template of the node pool too, so that new nodes have it, and see that pods with GPUs tolerate it.",
    fix: taintOf,
  },
  ({ nodes }) => nodes.filter((node) => !isTainted(node)).map((node) => affectedNode(node, { value: taintKey(node) })),
);

/** GPU nodes with pods that use no GPU. */
export const podsWithoutGpu = createCheck(
  {
    name: "pods-without-gpu-on-gpu-node",
    severity: "medium",
    title: "Pods without GPUs on GPU nodes",
    what: "Pods without GPUs that are older than 10 minutes reserve at least 5 % of the CPU or memory of a GPU node. Pods of DaemonSets and static pods do not count.",
    why: "The node's GPUs need its CPUs and memory. GPUs without their part of both cannot be given to a pod, and stay unused at the full price.",
    amount:
      "the part of the cost of the nodes' free time that is as large as the reserved part of CPU or memory, whichever is larger",
    states: ["unallocated"],
    fix: ({ name, value }) =>
      `kubectl get pods -A -o wide --field-selector spec.nodeName=${name}   # then move those without GPUs: a taint moves no running pod
${taintOf({ kind: "Node", namespace: "", name, value })}`,
  },
  ({ nodes }) =>
    nodes.flatMap((node) => {
      const part = reservedPart(node);
      const { others } = node;
      if (others === undefined || part < LEAST_PART) return [];
      const blocked = Math.floor(part * node.gpus.reduce((count, gpus) => count + gpus.count, 0));
      const named = `${others.names.join(", ")}${others.pods > others.names.length ? " and others" : ""}`;
      const need = blocked === 0 ? "" : `, as much as ${blocked} GPUs need`;
      const detail = `${counted(others.pods, "pod")} with ${Math.round(part * 100)} % of the node${need}: ${named}`;
      return affectedNode(node, { detail, value: taintKey(node), atStake: partOf(node.spend.unallocated, part) });
    }),
);

/** Workloads that tolerate every taint. */
export const toleratesEverything = createCheck(
  {
    name: "tolerates-everything",
    severity: "low",
    title: "Workloads that tolerate every taint",
    what: "A pod with GPUs has a toleration without a key and with the operator `Exists`.",
    why: "The pod is placed on nodes that are cordoned for repair, about to be taken away, or kept for others, and is not moved away from a node that is not ready.",
    fix: (object) =>
      inTemplate(object, "tolerations:\n  - { key: nvidia.com/gpu, operator: Exists, effect: NoSchedule }"),
  },
  ({ workloads }) =>
    workloads
      .filter(({ pods }) => pods.some(({ tolerations }) => tolerations.includes("*")))
      .map((workload) => affectedWorkload(workload)),
);

function isTainted({ taints }: PracticeNode): boolean {
  return taints.some(({ key, effect }) => KEEPS_AWAY.has(effect) && !PASSING.some((taint) => taint.test(key)));
}

function taintKey({ gpus: [first] }: PracticeNode): string {
  return first?.vendor === "amd" ? "amd.com/gpu" : first?.vendor === "intel" ? "gpu.intel.com/gpu" : "nvidia.com/gpu";
}

function reservedPart({ others, compute }: PracticeNode): number {
  if (others === undefined || compute === undefined || compute.cpuMillicores === 0 || compute.memoryBytes === 0)
    return 0;
  const { cpuMillicores, memoryBytes } = others.requested;
  return Math.min(1, Math.max(cpuMillicores / compute.cpuMillicores, memoryBytes / compute.memoryBytes));
}
