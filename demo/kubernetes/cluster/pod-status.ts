import type { PodLife } from "./lives.ts";
import { SECOND, timestamp } from "./times.ts";

/** Returns an entry of `status.conditions`. */
export function condition(type: string, isTrue: boolean, sinceMillis: number, more: object = {}): object {
  return {
    type,
    status: isTrue ? "True" : "False",
    lastProbeTime: null,
    lastTransitionTime: timestamp(sinceMillis),
    ...more,
  };
}

/** Returns the status of a pod for which no node has room, with the reason in the scheduler's words. */
export function unschedulable(createdMillis: number, message: string): object {
  const since = createdMillis + SECOND;
  return {
    phase: "Pending",
    conditions: [condition("PodScheduled", false, since, { reason: "Unschedulable", message })],
    qosClass: "Burstable",
  };
}

/** Returns the status of a bound pod: its images are pulled, it runs, it has ended. */
export function podStatus(
  life: PodLife,
  timeMillis: number,
  addresses: { readonly hostIP: string; readonly podIP: string },
): object {
  const { boundMillis, startMillis, endMillis, isLost, hasFailed, pod } = life;
  const hasStarted = timeMillis >= startMillis;
  const hasEnded = timeMillis >= endMillis;
  const isReady = hasStarted && !hasEnded;
  const name = pod.container;
  const failed = hasFailed || isLost;
  const started = timestamp(startMillis);
  const state = hasEnded
    ? {
        terminated: {
          exitCode: isLost ? 137 : hasFailed ? 1 : 0,
          reason: failed ? "Error" : "Completed",
          startedAt: started,
          finishedAt: timestamp(endMillis),
        },
      }
    : hasStarted
      ? { running: { startedAt: started } }
      : { waiting: { reason: "ContainerCreating" } };
  const unready = hasEnded ? { reason: failed ? "PodFailed" : "PodCompleted" } : { reason: "ContainersNotReady" };
  const changed = hasEnded ? endMillis : hasStarted ? startMillis : boundMillis;
  return {
    phase: hasEnded ? (failed ? "Failed" : "Succeeded") : hasStarted ? "Running" : "Pending",
    ...(hasEnded && isLost
      ? { reason: "NodeShutdown", message: "Pod was terminated in response to node shutdown" }
      : {}),
    conditions: [
      ...(isLost && timeMillis >= life.askedToEndMillis
        ? [
            condition("DisruptionTarget", true, life.askedToEndMillis, {
              reason: "TerminationByKubelet",
              message: "Pod was terminated in response to imminent node shutdown.",
            }),
          ]
        : []),
      condition("PodReadyToStartContainers", isReady, changed),
      condition("Initialized", true, boundMillis),
      condition("Ready", isReady, changed, isReady ? {} : unready),
      condition("ContainersReady", isReady, changed, isReady ? {} : unready),
      condition("PodScheduled", true, boundMillis),
    ],
    hostIP: addresses.hostIP,
    ...(hasStarted ? { podIP: addresses.podIP, podIPs: [{ ip: addresses.podIP }] } : {}),
    startTime: timestamp(boundMillis),
    containerStatuses: [
      { name, state, lastState: {}, ready: isReady, started: isReady, restartCount: 0, image: "", imageID: "" },
    ],
    qosClass: "Burstable",
  };
}
