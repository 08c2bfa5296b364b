import { counted } from "../../counted.ts";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../time.ts";
import { affectedWorkload, inTemplate } from "../affected.ts";
import { createCheck } from "../check.ts";
import type { LimitedPod } from "../facts.ts";
import { groupBy } from "../../grouped.ts";

/** A shorter limit makes nobody wait. */
const SHORT_SECONDS = 61 * 60;
/** The largest used part of the limit that counts as far below it. */
const LARGEST_USED = 0.2;
/** The error of a mean of binary fractions. */
const ROUNDING = 1e-9;
/** The pods from which a workload is judged. */
const LEAST_PODS = 3;
/** The GPU-hours between use and limit for which one pod is enough. */
const LEAST_GPU_HOURS = 1_000;
/** The new limit, in the longest use. */
const RESERVE = 2;

/** Limits of time that no pod needs. */
export const timeLimitFarAboveNeed = createCheck(
  {
    name: "time-limit-far-above-need",
    severity: "low",
    title: "Time limits far above the need",
    what: "The pods of a workload that have succeeded in the days used at most 20 % of their `activeDeadlineSeconds`, or of their Job's, by mean and by median. The limits are above 61 minutes, and the workload has at least 3 such pods, or 1,000 GPU-hours between use and limit. Each pod of a Job has the time of all pods of the Job, and Jobs that still run do not count. At most 500 pods of a workload count, those that ended last.",
    why: "Schedulers that plan by limits, such as Kueue with `maximumExecutionTimeSeconds` and those that fill gaps with short jobs, keep GPUs free for time that is never used, and let others wait. A job that hangs holds its GPUs until the limit.",
    fix: (object) =>
      object.kind === "Job"
        ? `# in the manifest of Job ${object.namespace}/${object.name}: twice the longest use; the time counts from the start of the Job
spec: { activeDeadlineSeconds: ${object.value} }`
        : inTemplate(object, `activeDeadlineSeconds: ${object.value}   # twice the longest use`),
  },
  ({ limited, workloads }) => {
    const running = new Set(workloads.flatMap(({ pods }) => pods.flatMap(({ owners: [owner] }) => owner?.uid ?? [])));
    return limited.flatMap((workload) => {
      const uses = usesOf(workload.ended.filter(({ run }) => !running.has(run)));
      if (uses.length < LEAST_PODS && unusedGpuHours(uses) < LEAST_GPU_HOURS) return [];
      const parts = uses.map(({ seconds, limitSeconds }) => seconds / limitSeconds).toSorted((a, b) => a - b);
      const mean = parts.reduce((sum, part) => sum + part, 0) / parts.length;
      if (Math.max(mean, medianOf(parts)) > LARGEST_USED + ROUNDING) return [];
      const longest = Math.max(...uses.map(({ seconds }) => seconds));
      const lowest = Math.min(...uses.map(({ limitSeconds }) => limitSeconds));
      const enough = Math.ceil((RESERVE * longest) / 60) * 60;
      if (enough >= lowest) return [];
      return affectedWorkload(workload, {
        value: String(enough),
        detail: `${counted(uses.length, "pod")} used ${Math.round(mean * 100)} % of at least ${minutes(lowest)} min, the longest ${minutes(longest)} min`,
      });
    });
  },
);

/** The use of time of a pod, with its limit. */
interface TimeUse {
  readonly seconds: number;
  readonly limitSeconds: number;
  readonly gpus: number;
}

/** Returns the uses of pods with a limit that counts. Each pod of a Job has the time of all pods of the Job. */
function usesOf(pods: readonly LimitedPod[]): readonly TimeUse[] {
  return groupBy(pods, ({ run }) => [run]).flatMap((run) => {
    const begun = Math.min(...run.map((pod) => pod.begun));
    const seconds = (Math.max(...run.map(({ finished }) => finished)) - begun) / 1000;
    return run
      .filter(({ limitSeconds }) => limitSeconds > SHORT_SECONDS)
      .map(({ limitSeconds, gpus }) => ({ seconds, limitSeconds, gpus }));
  });
}

function unusedGpuHours(uses: readonly TimeUse[]): number {
  const millis = uses.reduce((sum, { seconds, limitSeconds, gpus }) => sum + (limitSeconds - seconds) * gpus, 0) * 1000;
  return millis / HOUR_MILLIS;
}

/** Returns the median of sorted numbers, at least one. */
function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
}

function minutes(seconds: number): number {
  return Math.ceil((seconds * 1000) / MINUTE_MILLIS);
}
