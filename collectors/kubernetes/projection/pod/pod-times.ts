import type { PodTimes } from "../../../../domain/workload.ts";
import type { KubeCondition } from "../kube-object.ts";
import type { ContainerStatusObject, PodObject } from "../pod-object.ts";
import type { Remarks } from "../remark.ts";
import { earliest, latest, millisOf } from "../time.ts";
import { given, objects } from "../wire.ts";

/** Returns a pod's condition of a type, if it has one. */
export function conditionOf(pod: PodObject, type: string): KubeCondition | undefined {
  return objects(pod.status?.conditions).find((condition) => condition.type === type);
}

/** Returns the statuses of all containers, init containers first. */
export function statusesOf(pod: PodObject): readonly ContainerStatusObject[] {
  return [...objects(pod.status?.initContainerStatuses), ...objects(pod.status?.containerStatuses)];
}

/** Returns whether the pod has ended. From then on the kubelet counts its devices as free. */
export function isFinished(pod: PodObject): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/**
 * Returns whether a pod has ended and its object no longer shows when its containers did: a restarted kubelet that refuses a pod writes a
 * status without containers (https://github.com/kubernetes/kubernetes/issues/124345).
 */
export function hasLostItsContainers(pod: PodObject): boolean {
  return isFinished(pod) && latest(endsOf(pod)) === undefined;
}

function endsOf(pod: PodObject): readonly (number | undefined)[] {
  return statusesOf(pod).map(({ state }) => sinceMillis(state?.terminated?.finishedAt));
}

/**
 * Reads the times in a pod's own status. Init containers prepare a pod; they do not start it. A container that restarted twice shows only
 * its last two starts, so the watcher keeps the earliest `started` that it saw. The end of a pod whose containers never ran, or are no
 * longer known, is the last change of its conditions; a watcher that saw the containers knows more. `deletion` is when the deletion was
 * requested: Kubernetes writes the time at which the grace period ends.
 */
export function readTimes(pod: PodObject, remarks: Remarks): PodTimes {
  const { metadata, spec, status } = pod;
  const changed = (type: string): number | undefined => {
    const condition = conditionOf(pod, type);
    return condition?.status === "True" ? millisOf(condition.lastTransitionTime) : undefined;
  };
  const created = millisOf(metadata?.creationTimestamp);
  if (created === undefined) {
    remarks.push({
      reason: "time",
      text: "metadata.creationTimestamp is not a time; the pod counts as created at the epoch.",
    });
  }
  const bound = typeof spec?.nodeName === "string" && spec.nodeName !== "";
  const starts = objects(status?.containerStatuses).flatMap(({ state, lastState }) =>
    [state?.running?.startedAt, state?.terminated?.startedAt, lastState?.terminated?.startedAt].map(sinceMillis),
  );
  const transitions = objects(status?.conditions).map((condition) => millisOf(condition.lastTransitionTime));
  const startTime = millisOf(status?.startTime);
  const asked = millisOf(metadata?.deletionTimestamp);
  return {
    created: created ?? 0,
    ...given({
      scheduled: changed("PodScheduled") ?? (bound ? (startTime ?? created) : undefined),
      started: earliest(starts),
      ready: changed("Ready"),
      finished: isFinished(pod) ? (latest(endsOf(pod)) ?? latest(transitions) ?? startTime ?? created) : undefined,
      deletion:
        asked === undefined
          ? undefined
          : Math.max(0, asked - 1000 * graceSeconds(metadata?.deletionGracePeriodSeconds)),
    }),
  };
}

/** Returns a container's time. The kubelet writes the epoch for a container that it lost track of; that counts as absent. */
function sinceMillis(value: unknown): number | undefined {
  const millis = millisOf(value);
  return millis === undefined || millis <= 0 ? undefined : millis;
}

function graceSeconds(value: unknown): number {
  return typeof value === "number" && value >= 0 ? value : 0;
}
