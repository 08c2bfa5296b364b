import type { EndReason, WorkloadFact } from "../../../../domain/workload.ts";
import type { PodObject } from "../pod-object.ts";
import { objects, text } from "../wire.ts";
import { conditionOf, isFinished, statusesOf } from "./pod-times.ts";

/** End reasons by `status.reason` (of the kubelet and the node controller). */
const BY_STATUS: ReadonlyMap<string, EndReason> = new Map<string, EndReason>([
  ["Evicted", "evicted"],
  ["Preempting", "preempted"],
  ["Preempted", "preempted"],
  ["NodeLost", "node-lost"],
  ["NodeShutdown", "node-lost"],
  ["Shutdown", "node-lost"],
  ["Terminated", "node-lost"],
]);

/**
 * End reasons by the reason of the condition DisruptionTarget
 * (https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions).
 */
const BY_DISRUPTION: ReadonlyMap<string, EndReason> = new Map<string, EndReason>([
  ["PreemptionByScheduler", "preempted"],
  ["PreemptionByKubeScheduler", "preempted"],
  ["DeletionByTaintManager", "evicted"],
  ["EvictionByEvictionAPI", "evicted"],
  ["DeletionByPodGC", "node-lost"],
  ["TerminationByKubelet", "evicted"],
]);

/**
 * Returns why a pod ended or is about to end; undefined if it continues. A pod that is evicted or preempted often disappears before it has
 * finished. Its last state then still has the reason.
 */
export function readEnd(pod: PodObject): EndReason | undefined {
  if (pod.status?.phase === "Succeeded") return "completed";
  const byStatus = BY_STATUS.get(pod.status?.reason ?? "");
  if (byStatus !== undefined) return byStatus;
  const disruption = conditionOf(pod, "DisruptionTarget");
  if (disruption?.status === "True") return BY_DISRUPTION.get(disruption.reason ?? "") ?? "evicted";
  const stopped = conditionOf(pod, "TerminationTarget");
  if (stopped?.status === "True") return /preempt/i.test(stopped.reason ?? "") ? "preempted" : "evicted";
  if (!isFinished(pod)) return undefined;
  const outOfMemory = statusesOf(pod).some(({ state }) => state?.terminated?.reason === "OOMKilled");
  return outOfMemory ? "out-of-memory" : "failed";
}

/** Waiting reasons that occur at every normal start. Other reasons mean a problem and are shown first. */
const ORDINARY = new Set(["ContainerCreating", "PodInitializing"]);
const MOST_MESSAGE = 500;

/** Returns why a pod is not scheduled or does not run, in Kubernetes' words; undefined if it runs or has ended. */
export function readPending(pod: PodObject): WorkloadFact["pending"] {
  if (isFinished(pod)) return undefined;
  const scheduled = conditionOf(pod, "PodScheduled");
  if (scheduled?.status === "False") {
    return {
      reason: text(scheduled.reason) ?? "Unschedulable",
      message: (text(scheduled.message) ?? "").slice(0, MOST_MESSAGE),
    };
  }
  const gates = objects(pod.spec?.schedulingGates).flatMap(({ name }) => text(name) ?? []);
  if (gates.length > 0 && text(pod.spec?.nodeName) === undefined) {
    return { reason: "SchedulingGated", message: gates.join(", ").slice(0, MOST_MESSAGE) };
  }
  const waiting = statusesOf(pod).flatMap(({ state }) => {
    const reason = text(state?.waiting?.reason);
    return reason === undefined ? [] : [{ reason, message: text(state?.waiting?.message) ?? "" }];
  });
  const found = waiting.find(({ reason }) => !ORDINARY.has(reason)) ?? waiting[0];
  return found === undefined ? undefined : { reason: found.reason, message: found.message.slice(0, MOST_MESSAGE) };
}
