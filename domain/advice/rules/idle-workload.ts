import { DAY_MILLIS, HOUR_MILLIS, momentText } from "../../time.ts";
import type { WorkloadType } from "../../workload.ts";
import { doubtsOf } from "../doubts.ts";
import { coverageOf, devicesOf, isActive, meanActivityOf, memoryPeakOf, runningMillis } from "../evidence.ts";
import { stopRemedy } from "../remedies.ts";
import { counted } from "../../counted.ts";
import { gib, percent, subjectOf, whereOf, type WorkloadRule } from "../rule.ts";

/**
 * The time without activity after which a workload counts as idle. A training that stops does not come back by itself. A notebook can rest
 * over a weekend. A service can be needed on one day of the week, so it must be idle for the whole window.
 */
const IDLE_MILLIS: Readonly<Record<WorkloadType, number>> = {
  training: DAY_MILLIS,
  notebook: 3 * DAY_MILLIS,
  other: 2 * DAY_MILLIS,
  inference: Infinity,
};

const WHAT: Readonly<Record<WorkloadType, string>> = {
  training: "The training has stopped working and holds its GPUs. End it",
  notebook: "Nobody uses the notebook. Stop it",
  inference: "The service has not computed anything. Stop it",
  other: "Nothing in the pods uses the GPUs. End them",
};

/**
 * Finds workloads that still hold GPUs and have not used any of them for a long time: abandoned notebooks, debug pods, trainings that have
 * ended but hold. Below 5 % OpenCost counts a GPU as idle, and Datadog waits 2 days (their documentation); this rule has no sample above 5 %.
 */
export const idleWorkload: WorkloadRule = (workload, context) => {
  const { hours, type, firstAt, lastAt } = workload;
  const { window, coverage } = context;
  if (lastAt < window.until) return [];
  const lastActive = hours.findLastIndex(isActive);
  const firstHeld = Math.max(window.from, firstAt);
  const since = Math.max(firstHeld, window.from + (lastActive + 1) * HOUR_MILLIS);
  const idle = hours.slice(lastActive + 1);
  const wanted = Math.min(IDLE_MILLIS[type], window.until - firstHeld);
  if (window.until - since < wanted || idle.reduce((total, hour) => total + runningMillis(hour), 0) === 0) return [];
  const covered = coverageOf(idle);
  if (covered < coverage) return "coverage";
  const ofPods = workload.pods.filter((pod) => pod.lastAt >= window.until);
  const devices = new Set(ofPods.flatMap((pod) => pod.devices.map(({ node, gpu }) => `${node} ${gpu}`)));
  const memory = memoryPeakOf(devicesOf(workload));
  const days = (window.until - since) / DAY_MILLIS;
  return [
    {
      kind: "idle-workload",
      subject: subjectOf(workload),
      from: since,
      changes: [{ release: { ...whereOf(workload), from: momentText(since) } }],
      figures: [
        { name: "Idle since", value: momentText(since) },
        { name: "Idle for", value: `${days.toFixed(1)} days` },
        { name: "Holds", value: counted(devices.size, "GPU") },
        { name: "Mean activity since then", value: percent(meanActivityOf(idle) ?? 0) },
        { name: "Samples for", value: `${percent(covered)} of that time` },
        ...(memory === undefined ? [] : [{ name: "Most memory in use", value: gib(memory) }]),
      ],
      remedy: stopRemedy(workload, `${WHAT[type]}.`),
      risks: [
        ...(memory !== undefined && memory > LOADED_MIB
          ? [`The pods have ${gib(memory)} in the GPU's memory. It is lost when they end.`]
          : []),
        "A person may have left something unsaved in the pods. Ask the owner first.",
      ],
      doubts: doubtsOf(workload, context),
    },
  ];
};

/** Memory above that of a CUDA context alone: something is loaded. */
const LOADED_MIB = 1024;
