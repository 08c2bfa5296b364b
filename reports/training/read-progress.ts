import type { Run } from "../../domain/training/identity.ts";
import type { TrainingMarks } from "../../domain/training-marks.ts";
import type { TrainingMetrics } from "../../domain/training/metrics.ts";
import type { ProgressPoint } from "../../domain/training/progress.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** SQL for the reports of pods: each value once, with the time at which it was first seen. */
const REPORTS = `
SELECT uid, JSONExtractRaw(fact, 'training') AS marks, toFloat64(toUnixTimestamp64Milli(min(at))) AS at
FROM workload_facts
WHERE uid IN {uids:Array(String)} AND NOT ended AND position(fact, '"training":{') > 0
GROUP BY uid, marks
ORDER BY at, uid`;

/** SQL for the progress of TrainJobs. The time is that of the report if the status has one. */
const TRAIN_JOBS = `
SELECT uid, JSONExtractFloat(fact, 'body', 'progress') AS percent,
  coalesce(JSONExtract(fact, 'body', 'since', 'Nullable(Float64)'), toFloat64(toUnixTimestamp64Milli(at))) AS at
FROM cluster_facts FINAL
WHERE kind = 'TrainJob' AND uid IN {owners:Array(String)} AND NOT ended
ORDER BY at, uid`;

/** The reported progress of a run, in order of time. */
export interface RunProgress {
  readonly points: readonly ProgressPoint[];
  /** The reason why the progress in metrics is not known; undefined if it is. */
  readonly metricsFailure: string | undefined;
}

/**
 * Reads the progress that the pods and the TrainJobs of runs reported, by the run's id: in annotations, in the status of TrainJobs and in
 * metrics. Fails with a `StoreError`.
 */
export async function readProgress(
  store: Pick<StoreClient, "query">,
  metrics: TrainingMetrics,
  runs: readonly Run[],
  now: number,
): Promise<ReadonlyMap<string, RunProgress>> {
  const reporting = runs.filter(({ marks }) => Object.keys(marks).length > 0);
  const uids = reporting.flatMap(({ pods }) => pods.map(({ uid }) => uid));
  const owners = runs.flatMap((run) => [...run.owners]);
  const [reports, trainJobs, measured] = await Promise.all([
    uids.length === 0 ? [] : store.query<{ uid: string; marks: string; at: number }>(REPORTS, { uids }),
    owners.length === 0 ? [] : store.query<{ uid: string; percent: number; at: number }>(TRAIN_JOBS, { owners }),
    metrics.progress(runs, now),
  ]);
  const ofUid = new Map<string, ProgressPoint[]>();
  const add = (uid: string, point: ProgressPoint): void => {
    const known = ofUid.get(uid);
    if (known === undefined) ofUid.set(uid, [point]);
    else known.push(point);
  };
  for (const { uid, marks, at } of reports) add(uid, pointOf(uid, JSON.parse(marks) as TrainingMarks, at));
  for (const { uid, percent, at } of trainJobs) add(uid, { at, source: "trainjob", pod: "", percent });
  return new Map(
    runs.map(({ id, pods, owners: objects }) => {
      const points = [...pods.map(({ uid }) => uid), ...objects].flatMap((uid) => ofUid.get(uid) ?? []);
      const all = [...points, ...(measured.points.get(id) ?? [])].toSorted((a, b) => a.at - b.at);
      return [id, { points: all, metricsFailure: measured.failures.get(id) }];
    }),
  );
}

function pointOf(pod: string, marks: TrainingMarks, at: number): ProgressPoint {
  const { step, checkpointAt, checkpointSeconds } = marks;
  return {
    at,
    source: "annotation",
    pod,
    ...(step === undefined ? {} : { step }),
    ...(checkpointAt === undefined
      ? {}
      : {
          checkpoint: {
            at: checkpointAt,
            ...(checkpointSeconds === undefined ? {} : { seconds: checkpointSeconds }),
          },
        }),
  };
}
