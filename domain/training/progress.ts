import { groupedBy } from "../grouped.ts";

/** The sources of progress points: the status of a TrainJob, annotations of pods or owners, metrics of a scraped page. */
export type ProgressSource = "trainjob" | "annotation" | "metric";

/** The progress of a run, as it was reported at a time. Times are milliseconds since the epoch. */
export interface ProgressPoint {
  readonly at: number;
  readonly source: ProgressSource;
  /** The UID of the reporting pod; empty if the run's owner reports. */
  readonly pod: string;
  /** Completed steps. */
  readonly step?: number;
  /** The part of the run that is done, 0 to 100. */
  readonly percent?: number;
  /** The last checkpoint: when it was complete, and how long training stood still for it. */
  readonly checkpoint?: { readonly at: number; readonly seconds?: number };
}

/** A time between two stops of a lane, or before the first or after the last one. */
export interface Attempt {
  /** When all pods ran. */
  readonly begin: number;
  /** The stop that ended the attempt; Infinity if none did. */
  readonly stopAt: number;
}

/** A value of a measure of progress at a time, with the attempt in which it was reported. */
interface Value {
  readonly at: number;
  readonly value: number;
  readonly attempt: number;
}

/** The values of a measure over a lane's attempts, in order of time. */
export type Course = readonly Value[];

/**
 * Returns the course of a measure. In each attempt one pod counts: the one that reports most often, because the reports of several pods come
 * at different times.
 */
export function courseOf(
  points: readonly ProgressPoint[],
  measure: "step" | "percent",
  attempts: readonly Attempt[],
): Course {
  return attempts.flatMap(({ stopAt }, index) => {
    const after = attempts[index - 1]?.stopAt ?? -Infinity;
    const ofAttempt = points.filter((point) => point[measure] !== undefined && after < point.at && point.at <= stopAt);
    const byPod = groupedBy(ofAttempt, ({ pod }) => pod);
    const [most = []] = [...byPod.values()].toSorted((a, b) => b.length - a.length);
    return most.map((point) => ({ at: point.at, value: point[measure]!, attempt: index }));
  });
}

/** A fall of the progress: the value after it was reached before, at `reachedAt`. */
export interface Fall {
  /** When the lower value was reported. */
  readonly at: number;
  /** The attempt before the fall. */
  readonly attempt: number;
  /** True if no stop lies between the two values. */
  readonly isWithin: boolean;
  /** When the work began that was lost; -Infinity if it is older than the first value. */
  readonly reachedAt: number;
}

/** Returns the falls of a course, in order of time. */
export function fallsOf(course: Course, attempts: readonly Attempt[]): readonly Fall[] {
  return course.flatMap((after, index): readonly Fall[] => {
    const before = course[index - 1];
    if (before === undefined || after.value >= before.value) return [];
    const { attempt } = before;
    const reachedAt = lastReached(course.slice(0, index), after.value, attempts);
    return [{ at: after.at, attempt, isWithin: attempt === after.attempt, reachedAt }];
  });
}

/**
 * Returns when a value was reached last: between two values of one attempt in proportion, to the whole millisecond. A value that an attempt
 * had passed at its first report counts as reached at the begin of the attempt.
 */
function lastReached(course: Course, value: number, attempts: readonly Attempt[]): number {
  const index = course.findLastIndex((each) => each.value <= value);
  const [low, high] = [course[index], course[index + 1]];
  if (low === undefined || high === undefined) return -Infinity;
  if (low.attempt !== high.attempt && low.value < value) return attempts[high.attempt]!.begin;
  if (low.value === value) return low.at;
  return low.at + Math.floor(((value - low.value) * (high.at - low.at)) / (high.value - low.value));
}

/** A checkpoint. Times are milliseconds since the epoch. */
export interface Checkpoint {
  /** When it was complete. */
  readonly at: number;
  /** How long training stood still for it; 0 if that is unknown. */
  readonly millis: number;
  /** The UID of the pod that reported it; empty if the run's owner did. */
  readonly pod: string;
}

/** Returns the checkpoints that points report, in order of time, each once. */
export function checkpointsOf(points: readonly ProgressPoint[]): readonly Checkpoint[] {
  const byTime = new Map<number, Checkpoint>();
  for (const { checkpoint, pod } of points) {
    if (checkpoint === undefined) continue;
    const { at, seconds = 0 } = checkpoint;
    const known = byTime.get(at);
    const millis = Math.max(known?.millis ?? 0, Math.round(seconds * 1000));
    byTime.set(at, { at, millis, pod: known?.pod ?? pod });
  }
  return [...byTime.values()].toSorted((a, b) => a.at - b.at);
}

/** Returns the mean time between checkpoints in milliseconds; undefined for fewer than two. */
export function meanGapMillis(checkpoints: readonly Checkpoint[]): number | undefined {
  const [first, last] = [checkpoints[0], checkpoints.at(-1)];
  if (first === undefined || last === undefined || first === last) return undefined;
  return Math.round((last.at - first.at) / (checkpoints.length - 1));
}
