import { holdingOf } from "../holding.ts";
import type { EndReason, WorkloadFact } from "../workload.ts";

/** A restart of a pod's containers in place. Times are milliseconds since the epoch. */
export interface ContainerRestart {
  /** When the watcher first saw it. */
  readonly at: number;
  /** When all containers ran again; absent if they never did. */
  readonly again?: number;
}

/** A pod of a training run, with the times that its run's timeline is made of: milliseconds since the epoch. */
export interface RunPod {
  readonly uid: string;
  readonly name: string;
  /** Empty if the pod was never bound. */
  readonly node: string;
  readonly created: number;
  /** When the pod was bound to its node. */
  readonly bound?: number;
  /** When the first container ran. */
  readonly started?: number;
  /** Absent while the pod exists and has not finished. */
  readonly end?: { readonly at: number; readonly reason: EndReason };
  /** In order of time. */
  readonly restarts: readonly ContainerRestart[];
}

/** A time in which all containers of a pod ran. `because` is absent if the pod has not ended. */
export interface RunningSpan {
  readonly pod: RunPod;
  readonly from: number;
  /** Infinity if it has not ended. */
  readonly until: number;
  readonly because?: EndReason | "restarted";
}

/**
 * Returns the times of a pod from its newest fact. The pod ends when it no longer holds its GPUs, as for the ledger. The containers of a pod
 * that is deleted often end with an error, which is no failure.
 */
export function runPodOf(fact: WorkloadFact, restarts: readonly ContainerRestart[] = []): RunPod {
  const { uid, name, node, times, end, endReason } = fact;
  const held = holdingOf(fact);
  const isDeleted = endReason === "failed" && times.deletion !== undefined;
  const endedAt = held?.until ?? times.finished ?? end?.atMillis ?? Infinity;
  return {
    uid,
    name,
    node,
    created: times.created,
    ...(held === undefined ? {} : { bound: held.from }),
    ...(times.started === undefined ? {} : { started: times.started }),
    ...(endedAt === Infinity ? {} : { end: { at: endedAt, reason: isDeleted ? "deleted" : (endReason ?? "unknown") } }),
    restarts,
  };
}

/** Returns the times in which all containers of a pod ran, in order. A restart in place cuts them. */
export function runningSpans(pod: RunPod): readonly RunningSpan[] {
  const { started, end, restarts } = pod;
  const endedAt = end?.at ?? Infinity;
  if (started === undefined || started >= endedAt) return [];
  const spans: RunningSpan[] = [];
  let from = started;
  for (const { at, again } of restarts) {
    if (at < from || at >= endedAt) continue;
    spans.push({ pod, from, until: at, because: "restarted" });
    if (again === undefined || again >= endedAt) return spans;
    from = again;
  }
  return [...spans, { pod, from, until: endedAt, ...(end === undefined ? {} : { because: end.reason }) }];
}
