import { earliest } from "../../kubernetes/projection/time.ts";
import type {
  ContainerObject,
  ContainerStatusObject,
  PodStatusObject,
} from "../../kubernetes/projection/pod-object.ts";
import type { ImportedPod } from "./imported-pod.ts";
import { quantitiesAt } from "./quantities.ts";
import type { ResourceReader } from "./resource-name.ts";
import { labelOf, type Row } from "./row.ts";
import type { States } from "./states.ts";
import { timestamp } from "./timestamp.ts";

const OF_CONTAINERS = [
  "kube_pod_container_info",
  "kube_pod_container_resource_requests",
  "kube_pod_container_resource_limits",
  "kube_pod_container_status_running",
  "kube_pod_container_status_restarts_total",
];
const OF_INIT_CONTAINERS = [
  "kube_pod_init_container_info",
  "kube_pod_init_container_resource_requests",
  "kube_pod_init_container_resource_limits",
];

/** The containers of a pod. */
export interface ImportedContainers {
  readonly containers: readonly ContainerObject[];
  readonly initContainers: readonly ContainerObject[];
}

/**
 * Returns the containers of a pod with their resources and images at a time. Sidecars come before other init containers, because the order
 * is not exported. Only later versions export that a container is a sidecar.
 */
export function containersAt(states: States, atMillis: number, resources: ResourceReader): ImportedContainers {
  const read = (kind: "container" | "init_container", name: string): ContainerObject => {
    const info = states.rows(`kube_pod_${kind}_info`).findLast((row) => labelOf(row, "container") === name);
    const image = info === undefined ? "" : imageOf(info);
    const restartPolicy = info === undefined ? "" : labelOf(info, "restart_policy");
    const quantities = (what: "requests" | "limits"): Readonly<Record<string, string>> =>
      quantitiesAt(states, `kube_pod_${kind}_resource_${what}`, atMillis, resources, { container: name });
    return {
      name,
      resources: { requests: quantities("requests"), limits: quantities("limits") },
      ...(image === "" ? {} : { image }),
      ...(restartPolicy === "" ? {} : { restartPolicy }),
    };
  };
  const inits = namesOf(states, OF_INIT_CONTAINERS).map((name) => read("init_container", name));
  return {
    containers: namesOf(states, OF_CONTAINERS).map((name) => read("container", name)),
    initContainers: inits.toSorted((a, b) => Number(isSidecar(b)) - Number(isSidecar(a))),
  };
}

/** Returns the statuses of a pod's containers at a time. A pod that is not bound has none. */
export function statusesAt(
  pod: ImportedPod,
  phase: string,
  atMillis: number,
): Pick<PodStatusObject, "containerStatuses" | "initContainerStatuses"> {
  const { states, times } = pod;
  if (times.scheduled === undefined || atMillis < times.scheduled) return {};
  const initContainerStatuses = namesOf(states, ["kube_pod_init_container_status_restarts_total"]).map((container) => ({
    name: container,
    restartCount: states.valueAt("kube_pod_init_container_status_restarts_total", atMillis, { container }) ?? 0,
    state: waitingState(states, "init_container", container, atMillis) ?? {},
  }));
  const names = namesOf(states, [
    "kube_pod_container_status_restarts_total",
    "kube_pod_container_status_running",
    "kube_pod_container_state_started",
  ]);
  const known = names.length > 0 || times.finished === undefined ? names : namesOf(states, OF_CONTAINERS);
  return { initContainerStatuses, containerStatuses: known.map((name) => statusAt(pod, name, phase, atMillis)) };
}

function statusAt(
  { states, times }: ImportedPod,
  container: string,
  phase: string,
  atMillis: number,
): ContainerStatusObject {
  const restartCount = states.valueAt("kube_pod_container_status_restarts_total", atMillis, { container }) ?? 0;
  const starts = states
    .rows("kube_pod_container_state_started")
    .filter((row) => labelOf(row, "container") === container)
    .flatMap(({ runs }) => runs.map(({ value }) => value * 1000))
    .filter((millis) => millis > 0 && millis <= atMillis);
  const bySamples = times.missing.includes("started") && times.started !== undefined && times.started <= atMillis;
  const first = earliest([...starts, bySamples ? times.started : undefined]);
  const startedAt = timeOf(starts.length === 0 ? first : Math.max(...starts));
  const reason = states
    .trueRows("kube_pod_container_status_terminated_reason", atMillis)
    .find((row) => labelOf(row, "container") === container);
  const isOver = phase === "Succeeded" || phase === "Failed";
  const hasRun = first !== undefined;
  const state =
    isOver && times.finished !== undefined
      ? {
          terminated: {
            reason: reason === undefined ? "" : labelOf(reason, "reason"),
            startedAt,
            finishedAt: timeOf(times.finished),
          },
        }
      : (waitingState(states, "container", container, atMillis, hasRun) ?? (hasRun ? { running: { startedAt } } : {}));
  return {
    name: container,
    restartCount,
    state,
    lastState: hasRun ? { terminated: { startedAt: timeOf(first) } } : {},
  };
}

/** Returns the waiting state of a container; undefined if it does not wait. A container with a start that ran in the next sample does not. */
function waitingState(
  states: States,
  kind: "container" | "init_container",
  container: string,
  atMillis: number,
  hasRun = false,
): (ContainerStatusObject["state"] & object) | undefined {
  const row = states
    .trueRows(`kube_pod_${kind}_status_waiting_reason`, atMillis)
    .find((each) => labelOf(each, "container") === container);
  if (row === undefined) return undefined;
  const isRunning = hasRun && states.valueAt("kube_pod_container_status_running", atMillis, { container }) === 1;
  return isRunning ? undefined : { waiting: { reason: labelOf(row, "reason") } };
}

/**
 * Returns the image of a row of `kube_pod_container_info`; empty if it is unknown. Older versions have only the image of the status,
 * which some runtimes write as a digest.
 */
export function imageOf(row: Row): string {
  const image = labelOf(row, "image_spec") || labelOf(row, "image");
  return image.startsWith("sha256:") ? "" : image;
}

function namesOf(states: States, metrics: readonly string[]): readonly string[] {
  const rows = metrics.flatMap((metric) => states.rows(metric));
  return [...new Set(rows.map((row) => labelOf(row, "container")))].filter((name) => name !== "").sort();
}

function isSidecar({ restartPolicy }: ContainerObject): boolean {
  return restartPolicy === "Always";
}

function timeOf(millis: number | undefined): string | null {
  return millis === undefined ? null : timestamp(millis);
}
