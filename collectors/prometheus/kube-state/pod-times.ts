import { given } from "../../kubernetes/projection/wire.ts";
import type { Life } from "./lives.ts";
import type { Presence } from "./presence.ts";
import type { MissingData } from "./remarks.ts";
import { labelOf } from "./row.ts";
import type { States } from "./states.ts";

/** The times of a pod in its series, milliseconds since the epoch. A time is absent if it has not come. */
export interface ImportedTimes {
  readonly created: number;
  readonly scheduled?: number;
  /** The first start of a container that is no init container. */
  readonly started?: number;
  /** The end of the last container of a pod that has finished. */
  readonly finished?: number;
  /** When the deletion was requested. */
  readonly deletion?: number;
  /** The end of the grace period, if the deletion was requested. */
  readonly graceEnd?: number;
  /** The data that samples had to replace. */
  readonly missing: readonly MissingData[];
}

const MILLIS = 1000;
/** The grace period of pods that have no other (`terminationGracePeriodSeconds`). It is not exported. */
const USUAL_GRACE_MILLIS = 30_000;

/** Returns the times of a pod: those that kube-state-metrics exports as values, otherwise those of samples. */
export function importedTimes({ states, createdMillis }: Life, presence: Presence): ImportedTimes {
  const missing: MissingData[] = [];
  const replaced = (what: MissingData, millis: number | undefined): number | undefined => {
    if (millis !== undefined) missing.push(what);
    return millis;
  };
  const created = createdMillis ?? replaced("created", states.firstMillis)!;
  const nodeSeen = firstWithNode(states);
  const startTime = lastMillisOf(states, "kube_pod_start_time");
  const scheduled =
    lastMillisOf(states, "kube_pod_status_scheduled_time") ?? startTime ?? replaced("scheduled", nodeSeen);
  const started =
    earliestMillisOf(states, "kube_pod_container_state_started") ??
    replaced("started", startBySamples(states, scheduled ?? created));
  const isFinished = ["Succeeded", "Failed"].some((phase) => phaseSeen(states, phase) !== undefined);
  const finished = isFinished
    ? (lastMillisOf(states, "kube_pod_completion_time") ??
      replaced("finished", phaseSeen(states, "Succeeded") ?? phaseSeen(states, "Failed")))
    : undefined;
  return { created, missing, ...given({ scheduled, started, finished, ...deletionOf(states, presence) }) };
}

/** Returns the first sample of a running container. If that is the first sample of all, the container has run since the binding. */
function startBySamples(states: States, scheduled: number): number | undefined {
  const seen = states.firstTrue("kube_pod_container_status_running") ?? phaseSeen(states, "Running");
  if (seen === undefined) return undefined;
  return seen > states.firstMillis ? Math.max(seen, scheduled) : scheduled;
}

/**
 * Returns when the deletion was requested. The series has the end of the grace period, and the grace period is not exported. The request came
 * before the first sample with the series, and the usual grace period is taken if the request then came after the sample before.
 */
function deletionOf(
  states: States,
  { stepMillis }: Presence,
): { readonly deletion?: number | undefined; readonly graceEnd?: number | undefined } {
  const graceEnd = lastMillisOf(states, "kube_pod_deletion_timestamp");
  const seen = states.firstTrue("kube_pod_deletion_timestamp");
  if (graceEnd === undefined || seen === undefined) return {};
  const usual = graceEnd - USUAL_GRACE_MILLIS;
  const isUsual = usual <= seen && usual >= seen - 2 * stepMillis;
  return { graceEnd, deletion: isUsual ? usual : Math.min(seen, graceEnd) };
}

function firstWithNode(states: States): number | undefined {
  const times = states
    .rows("kube_pod_info")
    .flatMap((row) => (labelOf(row, "node") === "" ? [] : row.runs.map(({ fromMillis }) => fromMillis)));
  return times.length === 0 ? undefined : Math.min(...times);
}

function phaseSeen(states: States, phase: string): number | undefined {
  return states.firstTrue("kube_pod_status_phase", { phase });
}

function lastMillisOf(states: States, metric: string): number | undefined {
  const value = states.values(metric).at(-1);
  return value === undefined || value <= 0 ? undefined : value * MILLIS;
}

function earliestMillisOf(states: States, metric: string): number | undefined {
  const values = states.values(metric).filter((value) => value > 0);
  return values.length === 0 ? undefined : Math.min(...values) * MILLIS;
}
