import { SETTLED_MILLIS, type Halt } from "./halts.ts";
import type { Lane } from "./lanes.ts";
import {
  checkpointsOf,
  courseOf,
  fallsOf,
  meanGapMillis,
  type Attempt,
  type Checkpoint,
  type Course,
  type Fall,
  type ProgressPoint,
} from "./progress.ts";

/** The source of lost progress, strongest first. `estimate` is half of the mean time between checkpoints. */
export type LossSource = "checkpoint" | "step" | "percent" | "estimate";

/** Work that was lost by a halt: the training from a time, in milliseconds since the epoch, until the halt. */
export interface Loss {
  readonly from: number;
  readonly by: LossSource;
}

/** A halt of a lane, with the work that was lost by it. */
export interface Stop extends Halt {
  /** Undefined if nothing was lost, or if nothing is known about lost work. */
  readonly loss: Loss | undefined;
}

/** The mean time between checkpoints in milliseconds, for estimates: as the run's owner states it, and as it is configured. */
export interface CheckpointIntervals {
  readonly stated?: number | undefined;
  readonly configured?: number | undefined;
}

/**
 * Returns the halts of a lane with their losses, and further stops for progress that fell without a halt, in order of time. A loss is known
 * from, in this order:
 * 1. the last checkpoint before the halt, and steps that fell: the earlier time counts, because a run does not always resume from its last
 *    checkpoint;
 * 2. a percentage that fell: it has a resolution of a hundredth of the run;
 * 3. reports of pods before the halt, none of which has a checkpoint, if the run reports checkpoints at all: all work was lost;
 * 4. progress that was reported before and after the halt and did not fall: nothing was lost;
 * 5. for a halt after which the run went on: an estimate, half of the mean time between checkpoints (stated, seen or configured, in this
 *    order), at most the time since the halt before.
 */
export function stopsOf(
  lane: Lane,
  { begun, halts }: { readonly begun: number; readonly halts: readonly Halt[] },
  points: readonly ProgressPoint[],
  intervals: CheckpointIntervals,
): readonly Stop[] {
  const checkpoints = checkpointsOf(points);
  const attempts = attemptsOf(begun, halts);
  const courses = [courseOf(points, "step", attempts), courseOf(points, "percent", attempts)] as const;
  const [steps, percents] = [fallsOf(courses[0], attempts), fallsOf(courses[1], attempts)];
  const everyMillis = intervals.stated ?? meanGapMillis(checkpoints) ?? intervals.configured;

  function lossOf(halt: Halt, index: number): Loss | undefined {
    const checkpoint = checkpoints.findLast(({ at }) => at <= halt.at);
    const [step, percent] = [fallAfter(steps, index), fallAfter(percents, index)];
    const hasFallen = step !== undefined || percent !== undefined;
    if (!hasFallen && checkpoints.some((each) => isFinalSave(each, halt, lane))) return undefined;
    const exact: readonly Loss[] = [
      ...(checkpoint === undefined ? [] : [{ from: checkpoint.at, by: "checkpoint" } as const]),
      ...(step === undefined ? [] : [{ from: step.reachedAt, by: "step" } as const]),
    ];
    const [earliest] = exact.toSorted((a, b) => a.from - b.from);
    if (earliest !== undefined) return earliest;
    if (percent !== undefined) return { from: percent.reachedAt, by: "percent" };
    const isReported = points.some(({ at, source }) => at <= halt.at && source !== "trainjob");
    if (isReported && checkpoints.length > 0) return { from: -Infinity, by: "checkpoint" };
    if (courses.some((course) => isAround(course, index))) return undefined;
    if (!halt.isRestarted || everyMillis === undefined) return undefined;
    return { from: Math.max(halt.at - Math.round(everyMillis / 2), attempts[index]!.begin), by: "estimate" };
  }

  const ofHalts = halts.map((halt, index): Stop => {
    const loss = lossOf(halt, index);
    return { ...halt, loss: loss === undefined || loss.from >= halt.at ? undefined : loss };
  });
  const [measure, falls]: [LossSource, readonly Fall[]] = steps.length > 0 ? ["step", steps] : ["percent", percents];
  const rolledBack = falls
    .filter(({ isWithin, attempt, at }) => isWithin && at >= attempts[attempt]!.begin && at < attempts[attempt]!.stopAt)
    .map((fall) => rollback(fall, measure, lane));
  return [...ofHalts, ...rolledBack].toSorted((a, b) => a.at - b.at);
}

/** Returns the attempts of a lane: the times between its halts. */
function attemptsOf(begun: number, halts: readonly Halt[]): readonly Attempt[] {
  const begins = [
    Math.min(begun, halts[0]?.at ?? Infinity),
    ...halts.map(({ isRestarted, until }) => (isRestarted ? until : Infinity)),
  ];
  return begins.map((begin, index) => ({ begin, stopAt: halts[index]?.at ?? Infinity }));
}

function fallAfter(falls: readonly Fall[], attempt: number): Fall | undefined {
  return falls.find((fall) => fall.attempt === attempt && !fall.isWithin);
}

function isAround(course: Course, attempt: number): boolean {
  return (course[0]?.attempt ?? Infinity) <= attempt && (course.at(-1)?.attempt ?? -Infinity) > attempt;
}

/**
 * Returns whether a pod that ran before a halt completed a checkpoint soon after the first pod had ended. It contains all work, unless the
 * progress falls afterwards: the run then resumed from an earlier one.
 */
function isFinalSave({ at, pod }: Checkpoint, halt: Halt, lane: Lane): boolean {
  if (at <= halt.at || at > halt.at + SETTLED_MILLIS) return false;
  return lane.some(({ uid, started, end }) => uid === pod && (started ?? Infinity) < halt.at && at <= (end?.at ?? 0));
}

function rollback({ at, reachedAt }: Fall, by: LossSource, lane: Lane): Stop {
  const [{ uid, name, node }] = lane as readonly [Lane[number], ...Lane];
  return {
    at,
    until: at,
    isRestarted: true,
    cause: "rolled-back",
    pod: { uid, name, node },
    loss: { from: reachedAt, by },
  };
}
