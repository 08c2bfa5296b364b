import { MINUTE_MILLIS } from "../time.ts";
import { haltsOf, type Halt } from "./halts.ts";
import type { Lane } from "./lanes.ts";
import { stopsOf, type CheckpointIntervals, type Stop } from "./losses.ts";
import { checkpointsOf, type ProgressPoint } from "./progress.ts";
import type { NodeSignal } from "./signals.ts";

/** The use of a lane's time, before the states of its GPUs are known. */
export type StretchPhase = "starting" | "training" | "checkpointing" | "recovering" | "lost" | "lost-estimated";

/** A time of a lane with one phase. Milliseconds since the epoch, half-open. */
export interface Stretch {
  readonly from: number;
  readonly until: number;
  readonly phase: StretchPhase;
  /** The index of the stop that caused the phase; undefined if none did. */
  readonly stop: number | undefined;
}

/** The timeline of a lane. The stretches cover all times, each exactly once: the first begins at -Infinity, the last ends at Infinity. */
export interface Timeline {
  readonly stretches: readonly Stretch[];
  /** In order of time. */
  readonly stops: readonly Stop[];
}

/** Everything beside the pods that a timeline is made of. Points and faults are in order of time. */
export interface TimelineEvidence {
  readonly points: readonly ProgressPoint[];
  readonly faults: readonly NodeSignal[];
  readonly intervals: CheckpointIntervals;
}

/** The longest time from a fault to the end of a pod that it causes: the default timeout of PyTorch's collectives with Gloo. */
export const FAULT_BEFORE_MILLIS = 30 * MINUTE_MILLIS;
/** The longest time between the end of a pod and a scrape or condition that shows its cause. */
export const FAULT_AFTER_MILLIS = 5 * MINUTE_MILLIS;

/** Returns the timeline of a lane. */
export function timelineOf(lane: Lane, { points, faults, intervals }: TimelineEvidence): Timeline {
  const { begun, halts } = haltsOf(lane, (at) => resumedAt(points, lane, at));
  const caused = halts.map((halt, index) => {
    const found = causeOf(halt, lane, faults);
    if (found === undefined) return halt;
    const earliest = halts[index - 1]?.until ?? begun;
    const at = found.fault.isBlocking ? stoppedAt(halt.at, found.fault.at, earliest, points) : halt.at;
    return { ...halt, ...found, at };
  });
  const stops = stopsOf(lane, { begun, halts: caused }, points, intervals);
  const checkpoints = checkpointsOf(points).filter(({ millis }) => millis > 0);
  const told = painted(
    baseOf(begun, stops),
    checkpoints.map(({ at, millis }) => ({ from: at - millis, until: at, phase: "checkpointing", stop: undefined })),
  );
  const stretches = stops.reduce<readonly Stretch[]>((painting, { at, loss }, stop) => {
    if (loss === undefined) return painting;
    const phase = loss.by === "estimate" ? "lost-estimated" : "lost";
    return painted(painting, [{ from: loss.from, until: at, phase, stop }]);
  }, told);
  return { stretches, stops };
}

/** Returns the stretches of a lane that starts, trains, and recovers from its stops. A stop without a restart lasts for ever. */
function baseOf(begun: number, stops: readonly Stop[]): readonly Stretch[] {
  const training = stops.map(({ isRestarted, until }) => (isRestarted ? until : Infinity));
  const first = Math.min(begun, stops[0]?.at ?? Infinity);
  const stretches: readonly Stretch[] = [
    { from: -Infinity, until: first, phase: "starting", stop: undefined },
    { from: first, until: stops[0]?.at ?? Infinity, phase: "training", stop: undefined },
    ...stops.flatMap(({ at }, stop): readonly Stretch[] => [
      { from: at, until: training[stop]!, phase: "recovering", stop },
      { from: training[stop]!, until: stops[stop + 1]?.at ?? Infinity, phase: "training", stop: undefined },
    ]),
  ];
  return stretches.filter(({ from, until }) => from < until);
}

/** Returns the stretches after parts of their training were painted in another phase. Parts are in order of time. */
function painted(stretches: readonly Stretch[], parts: readonly Stretch[]): readonly Stretch[] {
  const done: Stretch[] = [];
  let next = 0;
  for (const stretch of stretches) {
    let { from } = stretch;
    while (next < parts.length && parts[next]!.until <= from) next += 1;
    for (let index = next; index < parts.length && parts[index]!.from < stretch.until; index++) {
      if (stretch.phase !== "training") break;
      const part = parts[index]!;
      const [begin, end] = [Math.max(part.from, from), Math.min(part.until, stretch.until)];
      if (begin >= end) continue;
      if (from < begin) done.push({ ...stretch, from, until: begin });
      done.push({ ...part, from: begin, until: end });
      from = end;
    }
    if (from < stretch.until) done.push({ ...stretch, from });
  }
  return done;
}

/**
 * Returns the fault that made a lane halt, with the pod on its node and how it ended: one that blocks before others, then one of the pod
 * that ended first, then the earliest. A fault that does not block counts only close to the halt.
 */
function causeOf(
  halt: Halt,
  lane: Lane,
  faults: readonly NodeSignal[],
): Required<Pick<Halt, "fault" | "pod" | "cause">> | undefined {
  const ran = lane.filter(({ started, end }) => (started ?? Infinity) < halt.at && halt.at <= (end?.at ?? Infinity));
  const podOn = new Map(ran.map((pod) => [pod.node, pod]));
  const near = faults.filter(({ node, at, isBlocking }) => {
    const earliest = halt.at - (isBlocking ? FAULT_BEFORE_MILLIS : FAULT_AFTER_MILLIS);
    return podOn.has(node) && earliest <= at && at <= halt.at + FAULT_AFTER_MILLIS;
  });
  const rank = ({ node, isBlocking }: NodeSignal): number => (isBlocking ? 0 : 2) + (node === halt.pod.node ? 0 : 1);
  const [fault] = near.toSorted((a, b) => rank(a) - rank(b) || a.at - b.at);
  if (fault === undefined) return undefined;
  if (fault.node === halt.pod.node) return { fault, pod: halt.pod, cause: halt.cause };
  const { uid, name, node, end } = podOn.get(fault.node)!;
  const isEnded = end !== undefined && end.at <= halt.until;
  return { fault, pod: { uid, name, node }, cause: isEnded ? end.reason : halt.cause };
}

/** Returns when a lane stopped to make progress: at the fault, but not before its last report, nor before it ran at all. */
function stoppedAt(haltAt: number, faultAt: number, earliest: number, points: readonly ProgressPoint[]): number {
  const reportedAt = points.findLast(({ at }) => at <= haltAt)?.at ?? -Infinity;
  return Math.min(haltAt, Math.max(faultAt, reportedAt, earliest));
}

/**
 * Returns when training had certainly gone on after a halt: when a pod that started later completed a checkpoint, or at the second of two
 * reports of a pod that rise.
 */
function resumedAt(points: readonly ProgressPoint[], lane: Lane, haltAt: number): number | undefined {
  const later = points.filter(({ at }) => at > haltAt);
  const fresh = new Set(lane.filter(({ started }) => (started ?? -Infinity) > haltAt).map(({ uid }) => uid));
  const saved = later.find(({ pod, checkpoint }) => fresh.has(pod) && (checkpoint?.at ?? -Infinity) > haltAt);
  const lowest = new Map<string, ProgressPoint>();
  const risen = later.find((point) => {
    const before = lowest.get(point.pod);
    if (before === undefined || isAbove(before, point)) lowest.set(point.pod, point);
    return before !== undefined && isAbove(point, before);
  });
  const at = Math.min(saved?.checkpoint?.at ?? Infinity, risen?.at ?? Infinity);
  return at === Infinity ? undefined : at;
}

function isAbove(one: ProgressPoint, other: ProgressPoint): boolean {
  return (one.step ?? -1) > (other.step ?? Infinity) || (one.percent ?? -1) > (other.percent ?? Infinity);
}
