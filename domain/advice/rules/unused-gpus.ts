import { doubtsOf } from "../doubts.ts";
import type { DeviceEvidence, PodEvidence } from "../evidence.ts";
import { limitLines } from "../remedies.ts";
import { counted } from "../../counted.ts";
import { gib, percent, subjectOf, whereOf, type WorkloadRule } from "../rule.ts";

/** A GPU is unused if 99 % of its intervals have less activity than this, parts per million, and no more memory than a CUDA context. */
const UNUSED_PPM = 10_000;
const CONTEXT_MIB = 1024;

/** Finds GPUs of pods with several GPUs that nothing uses, while the other GPUs work. Kubecost has the same card without memory. */
export const unusedGpus: WorkloadRule = (workload, context) => {
  const pods = workload.pods.filter(({ lastAt, devices }) => lastAt >= context.window.until && devices.length > 1);
  if (pods.length === 0 || pods.length !== heldAtEnd(workload.pods, context.window.until)) return [];
  const unused = pods.map(({ devices }) => devices.filter(isUnused));
  const count = Math.min(...unused.map(({ length }) => length));
  const [first] = pods as [PodEvidence];
  if (count === 0 || pods.some(({ devices }, index) => devices.length === unused[index]!.length)) return [];
  if (pods.some(({ devices }) => devices.some(({ held }) => held.what !== "whole"))) return [];
  const released = unused.flatMap((devices) => devices.slice(0, count));
  if (released.some((device) => device.coveredMillis < device.heldMillis * context.coverage)) return "coverage";
  const asked = first.devices.length;
  const memory = Math.max(...released.map(({ stats }) => stats!.memoryPeakMiB));
  const activity = Math.max(...released.map(({ stats }) => stats!.p99));
  return [
    {
      kind: "unused-gpus",
      subject: { ...subjectOf(workload), model: first.devices[0]!.model },
      from: context.window.from,
      changes: [{ release: { ...whereOf(workload), gpu: released.map(({ gpu }) => gpu).toSorted() } }],
      figures: [
        { name: "Unused", value: `${count} of ${counted(asked, "GPU")} of each pod` },
        { name: "Pods", value: String(pods.length) },
        { name: "Activity of the unused GPUs, p99", value: percent(activity / 1_000_000) },
        { name: "Most memory in use on them", value: gib(memory) },
      ],
      remedy: {
        what: `Request ${counted(asked - count, "GPU")} instead of ${asked} in the pod template.`,
        lines: limitLines("nvidia.com/gpu", asked - count),
      },
      risks: ["A job that needs all GPUs only at times, such as an evaluation once a month, would miss them."],
      doubts: doubtsOf(workload, context),
    },
  ];
};

function isUnused({ stats }: DeviceEvidence): boolean {
  return stats !== undefined && stats.p99 < UNUSED_PPM && stats.memoryPeakMiB < CONTEXT_MIB;
}

function heldAtEnd(pods: readonly PodEvidence[], until: number): number {
  return pods.filter(({ lastAt }) => lastAt >= until).length;
}
