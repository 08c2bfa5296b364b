import type { LateGpu } from "../../domain/training/collectives.ts";
import { percent } from "../format/percent.ts";
import { rational, roundedDecimal } from "../../domain/exact/rational.ts";
import type { RunAmounts } from "../../domain/training/bill.ts";
import type { IncidentPart } from "../../domain/training/incident.ts";
import { PHASE_TITLES } from "../../domain/training/phases.ts";
import type { LossSource, Stop } from "../../domain/training/losses.ts";
import type { RunReport } from "../../domain/training/report.ts";
import { signalText } from "../../domain/training/signals.ts";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

/** Returns a part of a cost with six digits, of the GPU-hours if there is no cost; null if there are neither. */
export function shareOf(part: RunAmounts | undefined, total: RunAmounts): string | null {
  const measure = total.effective === 0n ? "gpuHours" : "effective";
  if (total[measure] === 0n) return null;
  return roundedDecimal(rational(part?.[measure] ?? 0n, total[measure]), 6);
}

/** Returns the productive part of a run's cost, as {@link shareOf}. */
export function progressRatio({ total, phases }: Pick<RunReport, "total" | "phases">): string | null {
  return shareOf(phases.get("productive"), total);
}

/** Returns the cause of a stop in words: `failed`, `XID 79 on GPU 3: gpu-a`. */
export function stopText({ cause, fault }: Stop): string {
  if (fault === undefined) return signalText({ kind: cause, code: "", gpu: undefined });
  return `${signalText(fault)}: ${fault.node}`;
}

/** The parts of the cost of an incident in words. */
export const PART_TITLES: Readonly<Record<IncidentPart, string>> = {
  blocked: "blocked capacity",
  waiting: PHASE_TITLES.waiting,
  recovering: PHASE_TITLES.recovering,
  lost: PHASE_TITLES.lost,
  "lost-estimated": PHASE_TITLES["lost-estimated"],
};

/** The sources of lost progress in words. */
export const LOSS_SOURCES: Readonly<Record<LossSource, string>> = {
  checkpoint: "since the last checkpoint",
  step: "steps that fell",
  percent: "progress that fell",
  estimate: "estimated: half of the time between checkpoints",
};

/** Returns a duration in words: `45 s`, `12 min`, `3.5 h`. */
export function durationText(millis: number): string {
  if (millis < 2 * MINUTE_MILLIS) return `${Math.round(millis / 1000)} s`;
  return millis < 2 * HOUR_MILLIS
    ? `${Math.round(millis / MINUTE_MILLIS)} min`
    : `${(millis / HOUR_MILLIS).toFixed(1)} h`;
}

/** Returns the sentence about a GPU that the others wait for, without the collective. */
export function lateText({ node, pod, gpu, ofMedian, lateHours, hours }: LateGpu): string {
  const place = pod === "" ? node : `${pod} on ${node}`;
  return `${gpu} of ${place}: ${percent(ofMedian.toFixed(6))} of the median time in ${lateHours} of ${hours} h`;
}
