import { formatAmount, type GpuHours, type Money } from "../../domain/exact/units.ts";
import { PHASE_TITLES } from "../../domain/training/phases.ts";
import { percent } from "../format/percent.ts";
import { roundedMoney, roundedTo } from "../format/rounded.ts";
import type { RunDetail } from "./read-detail.ts";
import { progressRatio } from "./words.ts";

/**
 * Returns the report of a run that has ended in some sentences: its cost, its progress, what went wrong, one suggestion. Without a currency, it
 * has GPU-hours in the place of money.
 */
export function eventText({ run, metricsFailure, suggestion }: RunDetail, currency: string | undefined): string {
  const { outcome, total, phases, stops } = run;
  const hours = (amount: GpuHours): string => roundedTo(formatAmount(amount), 2);
  const costOf = ({ effective, gpuHours }: { readonly effective: Money; readonly gpuHours: GpuHours }): string =>
    currency === undefined
      ? `${hours(gpuHours)} GPU-hours`
      : `${roundedMoney(formatAmount(effective), currency)} ${currency}`;
  const ratio = progressRatio(run);
  const wrong = (["waiting", "recovering", "lost", "lost-estimated"] as const).flatMap((phase) => {
    const amounts = phases.get(phase);
    return amounts === undefined ? [] : [`${PHASE_TITLES[phase]}: ${costOf(amounts)}`];
  });
  return [
    `Training run ${outcome}: ${currency === undefined ? "" : `${costOf(total)} for `}${hours(total.gpuHours)} GPU-hours.`,
    ...(total.unpricedGpuHours === 0n ? [] : [`${hours(total.unpricedGpuHours)} GPU-hours have no price.`]),
    ...(ratio === null ? [] : [`Progress: ${percent(ratio)} of the cost.`]),
    `Stops: ${stops.length}.`,
    ...wrong.map((sentence) => `${sentence[0]!.toUpperCase()}${sentence.slice(1)}.`),
    ...(metricsFailure === undefined ? [] : ["The metrics could not be read."]),
    ...(suggestion === undefined ? [] : [`Suggestion: ${suggestion.text}`]),
  ].join(" ");
}
