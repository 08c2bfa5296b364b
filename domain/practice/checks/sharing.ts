import { affectedWorkload, inTemplate } from "../affected.ts";
import { createCheck } from "../check.ts";
import type { PracticeFacts, PracticeWorkload } from "../facts.ts";

/** Training beside others on one GPU. */
export const trainingOnTimeSlices = createCheck(
  {
    name: "training-on-time-slices",
    severity: "high",
    title: "Training on time-sliced GPUs",
    what: "A pod of training requests `nvidia.com/gpu` and runs on a node whose GPUs are shared by time-slicing.",
    why: "Time-slicing isolates neither memory nor faults. A neighbor that takes the memory ends the training, and each slows the other down by an amount that changes with its neighbors.",
    fix: (object) => inTemplate(object, `nodeSelector: { nvidia.com/gpu.sharing-strategy: none }`),
  },
  (facts) =>
    facts.workloads
      .filter(({ type, pods }) => type === "training" && pods.some((pod) => hasWhole(pod) && isSliced(facts, pod)))
      .map((workload) => affectedWorkload(workload, { detail: nodesOf(workload) })),
);

/** Notebooks that hold a GPU alone. */
export const wholeGpuNotebook = createCheck(
  {
    name: "whole-gpu-for-notebook",
    severity: "medium",
    title: "Whole GPUs for notebooks",
    what: "A pod of a notebook holds whole GPUs of a node that does not share them.",
    why: "A notebook computes for minutes of the hour, because a person reads and writes in between. A MIG instance or a share of a GPU serves it at a part of the price.",
    amount: "the cost of the idle time of these notebooks",
    states: ["idle"],
    fix: (object) =>
      inTemplate(
        object,
        "resources: { limits: { nvidia.com/mig-1g.10gb: 1 } }   # a profile of your GPUs, instead of nvidia.com/gpu",
      ),
  },
  (facts) =>
    facts.workloads
      .filter(
        ({ type, pods }) =>
          type === "notebook" &&
          pods.some((pod) => pod.node !== "" && hasWhole(pod) && sharingOf(facts, pod) === "none"),
      )
      .map((workload) => affectedWorkload(workload, { detail: nodesOf(workload), atStake: workload.spend.idle })),
);

type Pod = PracticeWorkload["pods"][number];

function hasWhole({ asks }: Pod): boolean {
  return asks.some(({ kind }) => kind === "gpu");
}

function isSliced(facts: PracticeFacts, pod: Pod): boolean {
  return sharingOf(facts, pod) === "time-slicing";
}

/** Returns how the node of a pod shares its GPUs; undefined if the node is unknown or has partitions. */
function sharingOf(facts: PracticeFacts, { cluster, node }: Pod): string | undefined {
  const [gpus] = facts.nodeOf(cluster, node)?.gpus ?? [];
  return gpus === undefined || gpus.partitions !== undefined ? undefined : gpus.sharing;
}

function nodesOf({ pods }: PracticeWorkload): string {
  return [...new Set(pods.map(({ node }) => node).filter((node) => node !== ""))].sort().slice(0, 3).join(", ");
}
