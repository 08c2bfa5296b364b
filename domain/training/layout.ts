import type { Run } from "./identity.ts";
import { lanesOf, type Lane } from "./lanes.ts";
import type { ProgressPoint } from "./progress.ts";
import type { NodeSignal } from "./signals.ts";
import { timelineOf, type Timeline } from "./timeline.ts";

/** The lanes of a run with their timelines, in the same order. */
export interface RunLayout {
  readonly lanes: readonly Lane[];
  readonly timelines: readonly Timeline[];
}

/**
 * Returns the lanes of a run with their timelines. Reports of pods count for the pod's lane, reports of the owner only if the run has one
 * lane. A report of a pod that has not started is its predecessor's, left on an owner. Points and faults are in order of time, faults of the
 * run's cluster. `configured` is the mean time between checkpoints in milliseconds, for estimates.
 */
export function layOut(
  run: Run,
  evidence: {
    readonly points: readonly ProgressPoint[];
    readonly faults: readonly NodeSignal[];
    readonly configured: number | undefined;
  },
): RunLayout {
  const { points, faults, configured } = evidence;
  const { checkpointEverySeconds } = run.marks;
  const stated = checkpointEverySeconds === undefined ? undefined : checkpointEverySeconds * 1000;
  const lanes = lanesOf(run);
  const timelines = lanes.map((lane) => {
    const starts = new Map(lane.map(({ uid, started }) => [uid, started ?? Infinity]));
    const own = points.filter(({ at, pod }) => (pod === "" ? lanes.length === 1 : at >= (starts.get(pod) ?? Infinity)));
    return timelineOf(lane, { points: own, faults, intervals: { stated, configured } });
  });
  return { lanes, timelines };
}

/** Returns whether a lane trained without a stop or a checkpoint: the phases of its charges follow from their states alone. */
export function isCalm(lane: Lane, { stretches, stops }: Timeline): boolean {
  return lane.length === 1 && stops.length === 0 && stretches.every(({ phase }) => phase !== "checkpointing");
}
