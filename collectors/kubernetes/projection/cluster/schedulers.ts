import type { ClusterFactBodies } from "../../../../domain/cluster-fact.ts";
import type { KaiQueueObject, PodGroupObject, VolcanoQueueObject } from "../cluster-object.ts";
import type { Remarks } from "../remark.ts";
import { millisOf } from "../time.ts";
import { given, objects, text, wholeNumber } from "../wire.ts";
import { gpuAmounts } from "./amounts.ts";

/** Volcano's Queue: what it deserves, else its capability, is its quota; what it has beyond that is borrowed. */
export function readVolcanoQueue(object: VolcanoQueueObject, remarks: Remarks): ClusterFactBodies["Queue"] {
  const { spec, status } = object;
  const quota = gpuAmounts("quota", spec?.deserved ?? spec?.capability, remarks);
  const admitted = gpuAmounts("allocated", status?.allocated, remarks);
  const borrowed = beyond(admitted, quota);
  const pending = wholeNumber(status?.pending) ?? 0;
  return { scheduler: "volcano", quota, admitted, borrowed, pending, ...given({ parent: text(spec?.parent) }) };
}

/**
 * KAI's and Run:ai's Queue: GPUs and fractions of them; without a quota it has no limit. Its pods that wait are counted
 * elsewhere.
 */
export function readKaiQueue(object: KaiQueueObject, remarks: Remarks): ClusterFactBodies["Queue"] {
  const { spec, status } = object;
  const granted = spec?.resources?.gpu?.quota;
  const limitless = granted === undefined || granted === -1 || granted === "-1";
  const quota = limitless ? {} : gpuAmounts("quota", { "nvidia.com/gpu": granted }, remarks);
  const admitted = gpuAmounts("allocated", status?.allocated, remarks);
  const borrowed = beyond(admitted, quota);
  return { scheduler: "kai", quota, admitted, borrowed, pending: 0, ...given({ parent: text(spec?.parentQueue) }) };
}

/** A PodGroup of Volcano or KAI: admitted since its condition Scheduled is true. */
export function readPodGroup(object: PodGroupObject): ClusterFactBodies["Gang"] {
  const { metadata, spec, status } = object;
  const scheduled = objects(status?.conditions).find(({ type, status: is }) => type === "Scheduled" && is === "True");
  return {
    made: "PodGroup",
    size: wholeNumber(spec?.minMember) ?? 0,
    phase: text(status?.phase) ?? (scheduled === undefined ? "Pending" : "Running"),
    ...given({
      queue: text(spec?.queue),
      queued: millisOf(metadata?.creationTimestamp),
      admitted: millisOf(scheduled?.lastTransitionTime),
    }),
  };
}

function beyond(
  admitted: Readonly<Record<string, number>>,
  quota: Readonly<Record<string, number>>,
): Record<string, number> {
  const borrowed: Record<string, number> = {};
  for (const [name, limit] of Object.entries(quota)) {
    const excess = (admitted[name] ?? 0) - limit;
    if (excess > 0) borrowed[name] = excess;
  }
  return borrowed;
}
