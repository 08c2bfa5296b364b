import { groupedBy } from "../../../domain/grouped.ts";
import { DAY_MILLIS, MINUTE_MILLIS } from "../../../domain/time.ts";
import type { Run } from "../../../domain/training/identity.ts";
import type { ProgressPoint } from "../../../domain/training/progress.ts";
import type { RunPod } from "../../../domain/training/run-pod.ts";
import { isList, query, selectorOf, type QueriedSeries } from "../read/query.ts";
import { SourceError } from "../read/source-error.ts";
import { isOneOf, labelOf, selectorFor, valueOf, type Labels, type TrainingServer } from "./server.ts";

/**
 * The labels of a pod: its own beside those of a target, those of a scraped target, and those of a resource of OpenTelemetry whose attributes
 * Prometheus has promoted.
 */
const NAMESPACE = ["exported_namespace", "namespace", "k8s_namespace_name"];
const POD = ["exported_pod", "pod", "k8s_pod_name"];
/** The most pods whose reports are read at one time. The ranks of a gang report the same steps. */
const MOST_PODS = 4;
/** The least time between two reports of a pod that count, unless the progress falls. */
const REPORT_MILLIS = MINUTE_MILLIS;
/** A pod that reports progress, with the label that has its name. */
export interface ReportingPod extends RunPod {
  readonly label: string;
}

/** Returns the pods of runs that report progress, of each time at most {@link MOST_PODS}. */
export async function reportingPods(
  asked: TrainingServer,
  runs: readonly Run[],
  now: number,
): Promise<ReadonlyMap<Run, readonly ReportingPod[]>> {
  const { clusterLabel, step, checkpoint } = asked;
  const clusters = runs.map(({ cluster }) => cluster);
  const selector = selectorOf([
    isOneOf("__name__", [step, checkpoint]),
    ...(clusterLabel === undefined ? [] : [isOneOf(clusterLabel, clusters)]),
  ]);
  const form = {
    "match[]": selector,
    start: String(Math.min(...runs.map(({ begun }) => begun)) / 1000),
    end: String(now / 1000),
  };
  const found = await asked.client.get<readonly Labels[]>("/api/v1/series", form);
  if (!isList(found)) throw new SourceError("broken", "the data of an answer is no list of series");
  const labels = new Map(
    found.map((each) => [
      podKey(
        clusterLabel === undefined ? "" : (each[clusterLabel] ?? ""),
        valueOf(each, NAMESPACE),
        valueOf(each, POD),
      ),
      labelOf(each, POD),
    ]),
  );
  const reporting = new Map<Run, readonly ReportingPod[]>();
  for (const run of runs) {
    const cluster = clusterLabel === undefined ? "" : run.cluster;
    const kept: ReportingPod[] = [];
    for (const pod of run.pods) {
      const label = labels.get(podKey(cluster, run.namespace, pod.name));
      const isBeside = ({ end }: RunPod): boolean => end === undefined || end.at > pod.created;
      if (label !== undefined && kept.filter(isBeside).length < MOST_PODS) kept.push({ ...pod, label });
    }
    if (kept.length > 0) reporting.set(run, kept);
  }
  return reporting;
}

function podKey(...names: readonly string[]): string {
  return JSON.stringify(names);
}

/** Reads the reports of some pods of a run, day by day. */
export async function progressOf(
  asked: TrainingServer,
  run: Run,
  pods: readonly ReportingPod[],
  now: number,
): Promise<readonly ProgressPoint[]> {
  const points: ProgressPoint[] = [];
  const steps = createReports(REPORT_MILLIS);
  const checkpoints = createReports(0);
  const until = Math.min(run.ended, now);
  for (let from = run.begun; from < until; from += DAY_MILLIS) {
    const span = { from, until: Math.min(from + DAY_MILLIS, until) };
    const ofDay = pods.filter(({ created, end }) => created < span.until && (end?.at ?? Infinity) >= from);
    if (ofDay.length === 0) continue;
    for (const { pod, at, value: given } of await podSamples(asked, run, asked.step, ofDay, span)) {
      const value = Math.floor(given);
      if (!Number.isSafeInteger(value) || value < 0) continue;
      if (steps.isNew(pod, at, value)) points.push({ at, source: "metric", pod, step: value });
    }
    const complete = await podSamples(asked, run, asked.checkpoint, ofDay, span);
    if (complete.length === 0) continue;
    const seconds = await podSamples(asked, run, asked.checkpointSeconds, ofDay, span);
    const pauses = new Map(seconds.map(({ pod, at, value }) => [`${pod} ${at}`, value]));
    for (const { pod, at, value } of complete) {
      // A gauge without a value yet is 0. A checkpoint from before the run is not the run's.
      if (value * 1000 < run.begun || !checkpoints.isNew(pod, at, value)) continue;
      const pause = pauses.get(`${pod} ${at}`);
      const checkpoint = { at: Math.round(value * 1000), ...(pause === undefined ? {} : { seconds: pause }) };
      points.push({ at, source: "metric", pod, checkpoint });
    }
  }
  return points.toSorted((a, b) => a.at - b.at);
}

/** Returns which values of pods are reports: those that differ from the one before, at most one in a time, unless the value falls. */
function createReports(leastMillis: number): { isNew(pod: string, at: number, value: number): boolean } {
  const last = new Map<string, { readonly at: number; readonly value: number }>();
  return {
    isNew(pod, at, value) {
      const before = last.get(pod);
      const isReport =
        before === undefined || value < before.value || (value > before.value && at >= before.at + leastMillis);
      if (isReport) last.set(pod, { at, value });
      return isReport;
    },
  };
}

/** A sample of a pod, by its UID. */
interface Sample {
  readonly pod: string;
  readonly at: number;
  readonly value: number;
}

/**
 * Reads the raw samples of a series of some pods in a span, in order of time. Later pods can have the names of earlier ones. Of several series
 * of a pod, such as those of its ranks, the first one by its labels counts.
 */
async function podSamples(
  asked: TrainingServer,
  run: Run,
  name: string,
  pods: readonly ReportingPod[],
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (const [label, ofLabel] of groupedBy(pods, (pod) => pod.label)) {
    const selector = selectorFor(asked, run, name, [
      isOneOf(
        label,
        ofLabel.map((pod) => pod.name),
      ),
    ]);
    const found = await query(asked.client, `${selector}[${until - from}ms]`, until - 1);
    const own = found.filter(({ metric }) => valueOf(metric, NAMESPACE) === run.namespace);
    for (const [podName, ofPod] of groupedBy(own, ({ metric }) => metric[label] ?? "")) {
      const [{ values = [] }] = ofPod.toSorted((a, b) => order(textOf(a), textOf(b))) as [QueriedSeries];
      const named = ofLabel.filter((pod) => pod.name === podName);
      for (const [seconds, text] of values) {
        const [at, value] = [Math.round(seconds * 1000), Number(text)];
        const pod = named.find(({ created, end }) => created <= at && at <= (end?.at ?? Infinity));
        if (pod !== undefined && Number.isFinite(value)) samples.push({ pod: pod.uid, at, value });
      }
    }
  }
  return samples.toSorted((a, b) => a.at - b.at);
}

function textOf({ metric }: QueriedSeries): string {
  return JSON.stringify(Object.entries(metric).sort(([a], [b]) => order(a, b)));
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
