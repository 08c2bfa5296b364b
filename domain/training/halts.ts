import { MINUTE_MILLIS } from "../time.ts";
import type { Lane } from "./lanes.ts";
import { runningSpans, type RunningSpan } from "./run-pod.ts";
import type { HaltCause, NodeSignal } from "./signals.ts";
import { countSpans, firstAfter } from "./step-count.ts";

/** A time in which a lane made no progress, from the first cause until all of its pods ran again. Milliseconds since the epoch. */
export interface Halt {
  readonly at: number;
  /** The end of the lane if it did not run again. */
  readonly until: number;
  readonly isRestarted: boolean;
  /** How the pod below ended. */
  readonly cause: HaltCause;
  /** The pod on the node of the fault, otherwise the one that ended first. After a fall of the progress: the first pod of the lane. */
  readonly pod: { readonly uid: string; readonly name: string; readonly node: string };
  /** The fault that caused it, if one is known. */
  readonly fault?: NodeSignal;
}

/** When a lane first trained, and its halts in order of time. */
export interface Halts {
  /** When all pods that existed at the first start ran, milliseconds since the epoch; Infinity if they never did. */
  readonly begun: number;
  readonly halts: readonly Halt[];
}

/** The time after which a lane with fewer pods than before counts as complete, if all pods that exist ran all that time. */
export const SETTLED_MILLIS = 10 * MINUTE_MILLIS;

/**
 * Returns the halts of a lane. A lane halts when a pod of it ends without success or restarts in place. It runs again when as many pods run
 * as before, or when all pods that exist have run for {@link SETTLED_MILLIS}, or at the time from `resumedAt`, which is after the halt. The
 * deletion of a pod while the others run on, without another pod in its place, is no halt: the lane was made smaller. The end of a pod
 * after the leader of the job has succeeded is no halt either, because the operators of these jobs look at the leader alone. A deletion after which
 * the lane never runs again is no halt either: operators also delete the workers of a training that has succeeded.
 */
export function haltsOf(lane: Lane, resumedAt: (haltAt: number) => number | undefined): Halts {
  const spans = lane.flatMap(runningSpans);
  const running = countSpans(spans);
  const existing = countSpans(lane.map(({ created, end }) => ({ from: created, until: end?.at ?? Infinity })));
  const [first] = running.times;
  if (first === undefined) return { begun: Infinity, halts: [] };

  /** Returns when at least `needed` pods run; Infinity if that never happens. */
  function runsAgain(after: number, needed: number): number {
    const later = running.times.slice(firstAfter(running.times, after));
    const whole = [after, ...later].find((time) => running.at(time) >= needed) ?? Infinity;
    return Math.min(whole, settledAt(after), resumedAt(after) ?? Infinity);
  }

  /** Returns when all pods that exist have run for long without a change; Infinity if that never happens. */
  function settledAt(after: number): number {
    const times = [after, ...[...running.times, ...existing.times].filter((time) => time > after)].sort(
      (a, b) => a - b,
    );
    const settled = times.find((time, index) => {
      const isLong = (times[index + 1] ?? Infinity) - time > SETTLED_MILLIS;
      return isLong && existing.at(time) > 0 && running.at(time) === existing.at(time);
    });
    return settled === undefined ? Infinity : settled + SETTLED_MILLIS;
  }

  const atFirst = existing.at(first);
  const begun = runsAgain(first, atFirst);
  const endedAt = lane.reduce((latest, { end }) => Math.max(latest, end?.at ?? Infinity), -Infinity);
  const leader = lane.find(({ name, end }) => LEADER.test(name) && end?.reason === "completed");
  const doneAt = leader?.end?.at ?? Infinity;
  const breaks = spans
    .filter((span) => span.until < doneAt && isBreak(span) && !isSmaller(span, lane))
    .toSorted((a, b) => a.until - b.until);
  const halts: Halt[] = [];
  for (const { until: at, because, pod } of breaks) {
    const last = halts.at(-1);
    if (last !== undefined && (!last.isRestarted || at < last.until)) continue;
    const needed = at < begun ? atFirst : running.at(at - 1);
    const again = runsAgain(at, needed);
    if (because === "deleted" && again >= endedAt) continue;
    halts.push({
      at,
      until: Math.min(again, endedAt),
      isRestarted: again < endedAt,
      cause: because ?? "unknown",
      pod: { uid: pod.uid, name: pod.name, node: pod.node },
    });
  }
  return { begun, halts };
}

/** The names of the pods whose success is that of their job: the master of a PyTorchJob, the launcher of an MPIJob, the chief of a TFJob. */
const LEADER = /(^|-)(master|launcher|chief)(-[a-z0-9]{1,5})?$/;

function isBreak({ because }: RunningSpan): boolean {
  return because !== undefined && because !== "completed";
}

/** Returns whether a pod was deleted while others of its lane ran on, and nothing else happened to the lane around that time. */
function isSmaller({ pod, until, because }: RunningSpan, lane: Lane): boolean {
  if (because !== "deleted") return false;
  const others = lane.filter((other) => other !== pod);
  const isNear = (time: number): boolean => Math.abs(time - until) <= SETTLED_MILLIS;
  const isAlone = !others.some(({ created, end }) => isNear(created) || (end !== undefined && isNear(end.at)));
  return isAlone && others.some(({ created, end }) => created < until && until < (end?.at ?? Infinity));
}
