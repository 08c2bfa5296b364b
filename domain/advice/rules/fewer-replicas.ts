import { HOUR_MILLIS } from "../../time.ts";
import { doubtsOf } from "../doubts.ts";
import { NOT_HELD, type PodEvidence } from "../evidence.ts";
import { scaleCommand } from "../remedies.ts";
import { percent, subjectOf, whereOf, type RuleContext, type WorkloadRule } from "../rule.ts";

const PPM = 1_000_000;
/** The activity of a replica at which another one is needed. */
const TARGET = 0.7;

/**
 * Finds inference services with more replicas than their demand needs in any hour. The demand of an hour is the sum of its pods' peaks of five
 * minutes, so it is too high rather than too low: the pods' peaks need not be at the same time.
 */
export const fewerReplicas: WorkloadRule = (workload, context) => {
  const { pods, type, firstAt, lastAt } = workload;
  const { window, minReplicas } = context;
  if (type !== "inference" || lastAt < window.until || firstAt > window.from) return [];
  const ofHours = workload.hours.map((_, hour) => demandOf(pods, hour));
  if (ofHours.some(({ running }) => running <= minReplicas)) return [];
  if (ofHours.some(({ isKnown }) => !isKnown)) return "coverage";
  if (ofHours.every(({ replicas }) => replicas < 0.01)) return [];
  const peak = Math.max(...ofHours.map(({ replicas }) => replicas));
  const needed = Math.max(minReplicas, Math.ceil((peak / TARGET) * (1 + context.headroom)));
  const running = Math.min(...ofHours.map((hour) => hour.running));
  const released = needed < running ? podsToRelease(pods, needed, context) : [];
  if (released.length === 0) return [];
  const scale = scaleCommand(workload, needed);
  return [
    {
      kind: "fewer-replicas",
      subject: subjectOf(workload),
      from: window.from,
      changes: [{ release: { ...whereOf(workload), pod: released } }],
      figures: [
        { name: "Replicas", value: `at least ${running} in each hour` },
        { name: "Highest demand in an hour", value: `${peak.toFixed(2)} replicas at full activity` },
        {
          name: "Needed",
          value: `${needed}, each at most ${percent(TARGET)} active, with ${percent(context.headroom)} of headroom`,
        },
        { name: "Never fewer than", value: String(minReplicas) },
      ],
      remedy: {
        what: `Run ${needed} replicas instead of ${running}.`,
        lines: scale ?? ["spec:", `  replicas: ${needed}`].join("\n"),
      },
      risks: [
        "Activity is not the whole demand: check the queue and the time to the first token after the change.",
        "The released replicas' work moves to the others. Under a policy by usage that work keeps its cost.",
      ],
      doubts: doubtsOf(workload, context),
    },
  ];
};

/** Returns the demand of an hour in replicas at full activity, and the running pods. Unknown if a pod has no sample. */
function demandOf(
  pods: readonly PodEvidence[],
  hour: number,
): { readonly replicas: number; readonly running: number; readonly isKnown: boolean } {
  const peaks = pods.flatMap(({ hourPeaks }) => (hourPeaks[hour] === undefined ? [] : [hourPeaks[hour]!]));
  const running = peaks.filter((peak) => peak !== NOT_HELD);
  return {
    replicas: running.reduce((sum, peak) => sum + Math.max(0, peak), 0) / PPM,
    running: running.length,
    isKnown: running.every((peak) => peak >= 0),
  };
}

/** Returns the pods that are not needed, in the order of their names: each pod whose hours all have enough kept pods without it. */
function podsToRelease(pods: readonly PodEvidence[], needed: number, { window }: RuleContext): readonly string[] {
  const kept = Array.from({ length: (window.until - window.from) / HOUR_MILLIS }, () => 0);
  const released: string[] = [];
  for (const { name, hourPeaks } of pods.toSorted((one, other) => one.firstAt - other.firstAt || compare(one, other))) {
    const hours = hourPeaks.flatMap((peak, hour) => (peak === NOT_HELD ? [] : [hour]));
    if (hours.every((hour) => kept[hour]! >= needed)) released.push(name);
    else for (const hour of hours) kept[hour]! += 1;
  }
  return released.toSorted((one, other) => (one < other ? -1 : 1));
}

function compare({ name: one }: PodEvidence, { name: other }: PodEvidence): number {
  return one < other ? -1 : 1;
}
