import { HOUR_MILLIS } from "../../time.ts";
import type { Figure } from "../card.ts";
import { doubtsOf } from "../doubts.ts";
import { NO_SAMPLE, NOT_HELD, type PodEvidence } from "../evidence.ts";
import { scaleCommand } from "../remedies.ts";
import { percent, subjectOf, whereOf, type RuleContext, type WorkloadRule } from "../rule.ts";

const PPM = 1_000_000;
/** The demand on a replica at which another one is needed. What is left of the replica is the headroom. */
const TARGET = 0.7;

/**
 * Finds inference services with more replicas than their demand needs in any hour. The demand of an hour is the sum of its pods' peaks of five
 * minutes, so it is too high rather than too low: the pods' peaks need not be at the same time. It comes from the engines' pages if all pods
 * have one, and otherwise from the activity of the GPUs, which is high with few requests, too.
 */
export const fewerReplicas: WorkloadRule = (workload, context) => {
  const { pods, type, firstAt, lastAt } = workload;
  const { window, minReplicas } = context;
  if (type !== "inference" || lastAt < window.until || firstAt > window.from) return [];
  const measure = engineMeasure(pods) ?? ACTIVITY;
  const ofHours = workload.hours.map((_, hour) => demandOf(pods, hour, measure));
  if (ofHours.some(({ running }) => running <= minReplicas)) return [];
  if (ofHours.some(({ isKnown }) => !isKnown)) return "coverage";
  if (ofHours.every(({ replicas }) => replicas < 0.01)) return [];
  const peak = Math.max(...ofHours.map(({ replicas }) => replicas));
  const needed = Math.max(minReplicas, Math.ceil(peak / TARGET));
  const running = Math.min(...ofHours.map((hour) => hour.running));
  const released = needed < running ? podsToRelease(pods, needed, measure, context) : [];
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
        { name: "Demand by", value: measure.name },
        { name: "Highest demand in an hour", value: `${peak.toFixed(2)} full replicas` },
        { name: "Needed", value: `${needed}, each at most ${percent(TARGET)} full` },
        ...measure.figures,
        { name: "Never fewer than", value: String(minReplicas) },
      ],
      remedy: {
        what: `Run ${needed} replicas instead of ${running}.`,
        lines: scale ?? ["spec:", `  replicas: ${needed}`].join("\n"),
      },
      risks: [
        measure.risk,
        "The released replicas' work moves to the others. Under a policy by usage that work keeps its cost.",
      ],
      doubts: [...doubtsOf(workload, context), ...measure.doubts],
    },
  ];
};

/** The source of a demand, with what it means for a card. */
interface Measure {
  readonly name: string;
  /** Returns the demand on a pod in an hour, in parts per million of the pod; `NO_SAMPLE` or `NOT_HELD`. */
  readonly of: (pod: PodEvidence, hour: number) => number | undefined;
  readonly figures: readonly Figure[];
  readonly risk: string;
  readonly doubts: readonly string[];
}

const ACTIVITY: Measure = {
  name: "activity of the GPUs",
  of: ({ hourPeaks }, hour) => hourPeaks[hour],
  figures: [],
  risk: "Activity is not the whole demand: check the queue and the time to the first token after the change.",
  doubts: [],
};

/** Returns the demand by the pages of engines; undefined if an hour of a pod has none. */
function engineMeasure(pods: readonly PodEvidence[]): Measure | undefined {
  const isComplete = pods.every(({ engine }) => engine !== undefined && !engine.hourDemands.includes(NO_SAMPLE));
  if (!isComplete) return undefined;
  const most = (values: readonly number[]): number => values.reduce((high, value) => Math.max(high, value), 0);
  const limit = most(pods.map(({ engine }) => engine!.limit));
  const requests = most(pods.map(({ engine }) => most(engine!.hourRequests)));
  return {
    name: "pages of the engines: key-value cache, prefill, queue",
    of({ engine }, hour) {
      const demand = engine!.hourDemands[hour];
      if (demand === undefined || demand < 0 || limit === 0) return demand;
      return Math.max(demand, Math.min(PPM, (engine!.hourRequests[hour]! / limit) * PPM));
    },
    figures: [
      { name: "Most requests at a time in a replica", value: requests.toFixed(1) },
      { name: "Limit of a replica", value: limit === 0 ? "unknown: no request waited" : `${limit} requests` },
    ],
    risk: "The batches of the other replicas grow: check the time to the first token and between tokens after the change.",
    doubts: limit === 0 ? ["No request has waited, so the limit of requests in a replica is not known."] : [],
  };
}

/** Returns the demand of an hour in full replicas, and the running pods. Unknown if a pod has no sample. */
function demandOf(
  pods: readonly PodEvidence[],
  hour: number,
  { of }: Measure,
): { readonly replicas: number; readonly running: number; readonly isKnown: boolean } {
  const peaks = pods.flatMap((pod) => of(pod, hour) ?? []);
  const running = peaks.filter((peak) => peak !== NOT_HELD);
  return {
    replicas: running.reduce((sum, peak) => sum + Math.max(0, peak), 0) / PPM,
    running: running.length,
    isKnown: running.every((peak) => peak >= 0),
  };
}

/** Returns the pods that are not needed, in the order of their names: each pod whose hours all have enough kept pods without it. */
function podsToRelease(
  pods: readonly PodEvidence[],
  needed: number,
  { of }: Measure,
  { window }: RuleContext,
): readonly string[] {
  const kept = Array.from({ length: (window.until - window.from) / HOUR_MILLIS }, () => 0);
  const released: string[] = [];
  for (const pod of pods.toSorted((one, other) => one.firstAt - other.firstAt || compare(one, other))) {
    const hours = kept.flatMap((_, hour) => ([undefined, NOT_HELD].includes(of(pod, hour)) ? [] : [hour]));
    if (hours.every((hour) => kept[hour]! >= needed)) released.push(pod.name);
    else for (const hour of hours) kept[hour]! += 1;
  }
  return released.toSorted((one, other) => (one < other ? -1 : 1));
}

function compare({ name: one }: PodEvidence, { name: other }: PodEvidence): number {
  return one < other ? -1 : 1;
}
