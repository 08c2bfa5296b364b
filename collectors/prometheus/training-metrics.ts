import type { Logger } from "pino";
import { groupedBy } from "../../domain/grouped.ts";
import { DAY_MILLIS, HOUR_MILLIS, hourOf, MINUTE_MILLIS } from "../../domain/time.ts";
import type { CollectiveHour } from "../../domain/training/collectives.ts";
import type { Run } from "../../domain/training/identity.ts";
import type { TrainingMetrics } from "../../domain/training/metrics.ts";
import type { ProgressPoint } from "../../domain/training/progress.ts";
import type { RunPod } from "../../domain/training/run-pod.ts";
import type { PrometheusClient } from "./read/client.ts";
import { query, queryRange, selectorOf, type QueriedSeries } from "./read/query.ts";
import { SourceError } from "./read/source-error.ts";
import type { Matcher } from "./read/wire.ts";

/** A Prometheus with series of trainings, and their names. */
export interface TrainingServer {
  readonly client: PrometheusClient;
  /** The clusters whose series it has; undefined for all. */
  readonly clusters?: readonly string[] | undefined;
  /** The label with the cluster's name, if its series have one. */
  readonly clusterLabel?: string | undefined;
  readonly step: string;
  /** When the last checkpoint was complete, seconds since the epoch. */
  readonly checkpoint: string;
  /** How long training stood still for it. */
  readonly checkpointSeconds: string;
}

type Labels = Readonly<Record<string, string>>;

/**
 * The labels of a pod: its own beside those of a target, those of a scraped target, and those of a resource of OpenTelemetry whose attributes
 * Prometheus has promoted.
 */
const NAMESPACE = ["exported_namespace", "namespace", "k8s_namespace_name"];
const POD = ["exported_pod", "pod", "k8s_pod_name"];
/** The label of NCCL Inspector with the name of the host: in a container, the pod's. A target can have another node. */
const HOST = ["exported_node", "node"] as const;

/** The most pods whose reports are read at one time. The ranks of a gang report the same steps. */
const MOST_PODS = 4;
/** The least time between two reports of a pod that count, unless the progress falls. */
const REPORT_MILLIS = MINUTE_MILLIS;
/** The longest time of one reading. */
const READING_MILLIS = 30_000;

const BANDWIDTHS = ["nccl_bus_bandwidth_gbs", "nccl_p2p_bus_bandwidth_gbs"];
/** Means in text files, and medians in the streaming format of later releases. */
const TIMES = [
  "nccl_collective_exec_time_microseconds",
  "nccl_p2p_exec_time_microseconds",
  "nccl_collective_exec_time_p50_microseconds",
  "nccl_p2p_exec_time_p50_microseconds",
];
const KIND = ["gpu", "collective", "p2p_operation", "message_size", "n_nodes", "nranks"];

/** Reads the metrics of trainings from servers with Prometheus' API. The first one with the cluster of a run counts. */
export function createTrainingMetrics(servers: readonly TrainingServer[], logger: Logger): TrainingMetrics {
  const serverOf = ({ cluster }: Run): TrainingServer | undefined =>
    servers.find(({ clusters }) => clusters === undefined || clusters.includes(cluster));

  /** Returns the value of a reading, or the reason why there is none. */
  async function tried<Value>(
    server: TrainingServer,
    read: (asked: Asked) => Promise<Value>,
  ): Promise<{ readonly value: Value } | { readonly failure: string }> {
    try {
      return { value: await read(asking(server)) };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      logger.warn({ err: error }, "the metrics of trainings cannot be read");
      return { failure: error.message };
    }
  }

  return {
    async progress(runs, now) {
      const points = new Map<string, readonly ProgressPoint[]>();
      const failures = new Map<string, string>();
      for (const server of servers) {
        const own = runs.filter((run) => serverOf(run) === server);
        if (own.length === 0) continue;
        const outcome = await tried(server, async (asked) => {
          for (const [run, pods] of await reportingPods(asked, own, now))
            points.set(run.id, await progressOf(asked, run, pods, now));
        });
        if ("failure" in outcome) for (const { id } of own) failures.set(id, outcome.failure);
      }
      return { points, failures };
    },
    async collectives(run, span) {
      const server = serverOf(run);
      if (server === undefined) return { hours: [] };
      const outcome = await tried(server, (asked) => collectiveHours(asked, run, span));
      return "failure" in outcome ? outcome : { hours: outcome.value };
    },
  };
}

/** Counts the series of a server that reports read now. Fails with a `SourceError`. */
export async function countTrainingSeries(
  { client, step, checkpoint }: TrainingServer,
  now: number,
): Promise<{ readonly progress: number; readonly collectives: number }> {
  const countOf = async (names: readonly string[]): Promise<number> => {
    const found = await query(client, `count(${selectorOf([isOneOf("__name__", names)])})`, now);
    return Number(found[0]?.value?.[1] ?? 0);
  };
  return { progress: await countOf([step, checkpoint]), collectives: await countOf(BANDWIDTHS) };
}

/** A reading of a server: its questions fail with a `SourceError` after {@link READING_MILLIS}. */
interface Asked extends Omit<TrainingServer, "client"> {
  readonly client: () => PrometheusClient;
}

function asking({ client, ...server }: TrainingServer): Asked {
  const until = performance.now() + READING_MILLIS;
  return {
    ...server,
    client() {
      if (performance.now() > until)
        throw new SourceError("unavailable", `the metrics were not read within ${READING_MILLIS / 1000} s`);
      return client;
    },
  };
}

/** A pod that reports progress, with the label that has its name. */
interface ReportingPod extends RunPod {
  readonly label: string;
}

/** Returns the pods of runs that report progress, of each time at most {@link MOST_PODS}. */
async function reportingPods(
  asked: Asked,
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
  const found = await asked.client().get<readonly Labels[]>("/api/v1/series", form);
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
async function progressOf(
  asked: Asked,
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
    for (const { pod, at, value } of await podSamples(asked, run, asked.step, ofDay, span))
      if (steps.isNew(pod, at, value)) points.push({ at, source: "metric", pod, step: value });
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

type TimeSpan = Parameters<TrainingMetrics["collectives"]>[1];

/**
 * Reads the raw samples of a series of some pods in a span, in order of time. Later pods can have the names of earlier ones. Of several series
 * of a pod, such as those of its ranks, the first one by its labels counts.
 */
async function podSamples(
  asked: Asked,
  run: Run,
  name: string,
  pods: readonly ReportingPod[],
  { from, until }: TimeSpan,
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (const [label, ofLabel] of groupedBy(pods, (pod) => pod.label)) {
    const selector = selectorFor(asked, run, name, [
      isOneOf(
        label,
        ofLabel.map((pod) => pod.name),
      ),
    ]);
    const found = await query(asked.client(), `${selector}[${until - from}ms]`, until - 1);
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

/** Reads the hourly means of the collectives of a run. */
async function collectiveHours(asked: Asked, run: Run, { from, until }: TimeSpan): Promise<readonly CollectiveHour[]> {
  const hosts = run.pods.flatMap(({ name, node }) => (node === "" ? [] : [name, node]));
  if (hosts.length === 0) return [];
  const span = { fromMillis: hourOf(from) + HOUR_MILLIS, untilMillis: hourOf(until - 1) + HOUR_MILLIS };
  const found = new Map<string, CollectiveHour>();
  for (const [measure, names] of [
    ["gbs", BANDWIDTHS],
    ["micros", TIMES],
  ] as const)
    for (const name of names)
      for (const label of HOST) {
        // The label of a target counts only without a label of the series itself.
        const others = HOST.slice(0, HOST.indexOf(label)).map(
          (other) => ({ label: other, is: "=", value: "" }) as const,
        );
        const selector = selectorFor(asked, run, name, [isOneOf(label, hosts), ...others]);
        const means = `avg by (${[label, ...KIND].join(", ")}) (avg_over_time(${selector}[1h]))`;
        for (const { metric, values = [] } of await queryRange(asked.client(), means, span, HOUR_MILLIS))
          for (const [seconds, text] of values) {
            const one = hourOfCollective(metric, metric[label]!, run, seconds * 1000 - HOUR_MILLIS);
            const value = Number(text);
            if (one === undefined || !Number.isFinite(value)) continue;
            const key = JSON.stringify(one);
            const known = found.get(key) ?? { ...one, gbs: undefined, micros: undefined };
            found.set(key, { ...known, [measure]: known[measure] ?? value });
          }
      }
  return [...found.values()].toSorted((a, b) => a.hour - b.hour);
}

/** Returns the identity of an hour of a collective; undefined if no pod of the run was on the host in this hour. */
function hourOfCollective(
  metric: QueriedSeries["metric"],
  host: string,
  { pods }: Run,
  hour: number,
): Omit<CollectiveHour, "gbs" | "micros"> | undefined {
  const there = pods.filter(({ created, end }) => created < hour + HOUR_MILLIS && (end?.at ?? Infinity) > hour);
  const pod = there.findLast(({ name }) => name === host) ?? there.find(({ node }) => node === host);
  if (pod === undefined) return undefined;
  return {
    hour,
    node: pod.node,
    pod: pod.name === host ? host : "",
    gpu: metric["gpu"] ?? "",
    operation: valueOf(metric, ["collective", "p2p_operation"]),
    size: metric["message_size"] ?? "",
    nodes: Number(metric["n_nodes"] ?? 0),
    ranks: Number(metric["nranks"] ?? 0),
  };
}

/** Returns the selector of a series of a run's cluster. */
function selectorFor({ clusterLabel }: Asked, { cluster }: Run, name: string, matchers: readonly Matcher[]): string {
  return selectorOf([
    { label: "__name__", is: "=", value: name },
    ...(clusterLabel === undefined ? [] : [{ label: clusterLabel, is: "=", value: cluster } as const]),
    ...matchers,
  ]);
}

/** Returns the matcher of a label that has one of some values. */
function isOneOf(label: string, values: readonly string[]): Matcher {
  const escaped = [...new Set(values)].map((value) => value.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return { label, is: "=~", value: escaped.join("|") };
}

/** Returns the first of some labels that has a value; the last one if none has. */
function labelOf(labels: Labels, names: readonly string[]): string {
  return names.find((name) => (labels[name] ?? "") !== "") ?? names.at(-1)!;
}

function valueOf(labels: Labels, names: readonly string[]): string {
  return labels[labelOf(labels, names)] ?? "";
}

function textOf({ metric }: QueriedSeries): string {
  return JSON.stringify(Object.entries(metric).sort(([a], [b]) => order(a, b)));
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
