import type { Logger } from "pino";
import { HOUR_MILLIS, DAY_MILLIS, hourOf } from "../../domain/time.ts";
import type { CollectiveHour } from "../../domain/training/collectives.ts";
import type { Run } from "../../domain/training/identity.ts";
import type { TrainingMetrics } from "../../domain/training/metrics.ts";
import type { ProgressPoint } from "../../domain/training/progress.ts";
import type { RunPod } from "../../domain/training/run-pod.ts";
import type { PrometheusClient } from "./read/client.ts";
import { query, queryRange, selectorOf, type QueriedSeries } from "./read/query.ts";
import { SourceError } from "./read/source-error.ts";
import type { Matcher } from "./read/wire.ts";

/** The names of the series in which a training reports itself. */
export interface ProgressNames {
  readonly step: string;
  /** When the last checkpoint was complete, seconds since the epoch. */
  readonly checkpoint: string;
  /** How long training stood still for it. */
  readonly checkpointSeconds: string;
}

/** A Prometheus with series of trainings. */
export interface TrainingServer extends ProgressNames {
  readonly client: PrometheusClient;
  /** The clusters whose series it has; undefined for all. */
  readonly clusters?: readonly string[] | undefined;
  /** The label with the cluster's name, if its series have one. */
  readonly clusterLabel?: string | undefined;
}

type Labels = Readonly<Record<string, string>>;

/** The labels of a pod: of a scraped target, and of a resource of OpenTelemetry whose attributes Prometheus has promoted. */
const NAMESPACE = ["namespace", "exported_namespace", "k8s_namespace_name"];
const POD = ["pod", "exported_pod", "k8s_pod_name"];
/** The label of NCCL Inspector with the name of the host: in a container, the pod's. */
const HOST = ["exported_node", "node"];

/** The most pods whose reports are read at one time. The ranks of a gang report the same steps. */
const MOST_PODS = 4;

const BANDWIDTH = "nccl_(p2p_)?bus_bandwidth_gbs";
/** The mean in text files, and the median in the streaming format of later releases. */
const TIME = "nccl_(collective|p2p)_exec_time(_p50)?_microseconds";
const KIND = ["gpu", "collective", "p2p_operation", "message_size", "n_nodes", "nranks"];

/** Reads the metrics of trainings from servers with Prometheus' API. The first one with the cluster of a run counts. */
export function createTrainingMetrics(servers: readonly TrainingServer[], logger: Logger): TrainingMetrics {
  const serverOf = ({ cluster }: Run): TrainingServer | undefined =>
    servers.find(({ clusters }) => clusters === undefined || clusters.includes(cluster));

  /** Returns the value of a reading, or the reason why there is none. */
  async function tried<Value>(read: () => Promise<Value>): Promise<{ value: Value } | { failure: string }> {
    try {
      return { value: await read() };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      logger.warn({ err: error }, "the metrics of trainings cannot be read");
      return { failure: error.message };
    }
  }

  return {
    async progress(runs, now) {
      const found = new Map<string, readonly ProgressPoint[]>();
      for (const server of servers) {
        const own = runs.filter((run) => serverOf(run) === server);
        if (own.length === 0) continue;
        const outcome = await tried(async () => {
          for (const [run, pods] of await reportingPods(server, own, now))
            found.set(run.id, await progressOf(server, run, pods, now));
        });
        if ("failure" in outcome) break;
      }
      return found;
    },
    async collectives(run, span) {
      const server = serverOf(run);
      if (server === undefined) return { hours: [] };
      const outcome = await tried(() => collectiveHours(server, run, span));
      return "failure" in outcome ? outcome : { hours: outcome.value };
    },
  };
}

/** Counts the series of a server that reports read now. Fails with a `SourceError`. */
export async function countTrainingSeries(
  { client, step, checkpoint }: TrainingServer,
  now: number,
): Promise<{ readonly progress: number; readonly collectives: number }> {
  const countOf = async (names: string): Promise<number> => {
    const found = await query(client, `count({__name__=~${JSON.stringify(names)}})`, now);
    return Number(found[0]?.value?.[1] ?? 0);
  };
  return { progress: await countOf(anyOf([step, checkpoint])), collectives: await countOf(BANDWIDTH) };
}

/** Returns the pods of runs that report progress, of each time at most {@link MOST_PODS}. */
async function reportingPods(
  server: TrainingServer,
  runs: readonly Run[],
  now: number,
): Promise<ReadonlyMap<Run, readonly RunPod[]>> {
  const { client, step, checkpoint } = server;
  const span = {
    start: String(Math.min(...runs.map(({ begun }) => begun)) / 1000),
    end: String(now / 1000),
  };
  const names = new Set<string>();
  for (const name of [step, checkpoint])
    for (const labels of await client.get<readonly Labels[]>("/api/v1/series", { "match[]": name, ...span }))
      names.add(podKey(labels[server.clusterLabel ?? ""] ?? "", first(labels, NAMESPACE), first(labels, POD)));
  const found = new Map<Run, readonly RunPod[]>();
  for (const run of runs) {
    const cluster = server.clusterLabel === undefined ? "" : run.cluster;
    const kept: RunPod[] = [];
    for (const pod of run.pods)
      if (names.has(podKey(cluster, run.namespace, pod.name)) && kept.filter(isBeside(pod)).length < MOST_PODS)
        kept.push(pod);
    if (kept.length > 0) found.set(run, kept);
  }
  return found;
}

function podKey(...names: readonly string[]): string {
  return JSON.stringify(names);
}

function isBeside({ created }: RunPod): (other: RunPod) => boolean {
  return ({ end }) => end === undefined || end.at > created;
}

/** Reads the reports of some pods of a run: each value once, with the time of its first sample, day by day. */
async function progressOf(
  server: TrainingServer,
  run: Run,
  pods: readonly RunPod[],
  now: number,
): Promise<readonly ProgressPoint[]> {
  const points: ProgressPoint[] = [];
  const last = new Map<string, number>();
  const add = (pod: string, measure: string, value: number, point: ProgressPoint): void => {
    const key = `${pod} ${measure}`;
    if (last.get(key) === value) return;
    last.set(key, value);
    points.push(point);
  };
  const until = Math.min(run.ended, now);
  for (let from = run.begun; from < until; from += DAY_MILLIS) {
    const end = Math.min(from + DAY_MILLIS, until);
    const samplesOf = async (name: string): Promise<readonly Sample[]> =>
      pods.length === 0 || name === "" ? [] : await podSamples(server, run, { name, pods, from, until: end });
    const [steps, checkpoints, seconds] = [
      await samplesOf(server.step),
      await samplesOf(server.checkpoint),
      await samplesOf(server.checkpointSeconds),
    ];
    const pauses = new Map(seconds.map(({ pod, at, value }) => [`${pod} ${at}`, value]));
    for (const { pod, at, value } of steps) add(pod, "step", value, { at, source: "metric", pod, step: value });
    for (const { pod, at, value } of checkpoints) {
      const pause = pauses.get(`${pod} ${at}`);
      const checkpoint = { at: Math.round(value * 1000), ...(pause === undefined ? {} : { seconds: pause }) };
      add(pod, "checkpoint", value, { at, source: "metric", pod, checkpoint });
    }
  }
  return points.toSorted((a, b) => a.at - b.at);
}

/** A sample of a pod, by its UID. */
interface Sample {
  readonly pod: string;
  readonly at: number;
  readonly value: number;
}

/** Reads the raw samples of a series of some pods in a span, in order of time. Later pods can have the names of earlier ones. */
async function podSamples(
  server: TrainingServer,
  run: Run,
  asked: { readonly name: string; readonly pods: readonly RunPod[]; readonly from: number; readonly until: number },
): Promise<readonly Sample[]> {
  const { name, pods, from, until } = asked;
  const names = anyOf(pods.map((pod) => pod.name));
  const selectors = POD.map(
    (label) => `${selector(server, run, name, { label, is: "=~", value: names })}[${until - from}ms]`,
  );
  const samples: Sample[] = [];
  for (const each of selectors)
    for (const { metric, values = [] } of await query(server.client, each, until - 1)) {
      if (first(metric, NAMESPACE) !== run.namespace) continue;
      const own = pods.filter((pod) => pod.name === first(metric, POD));
      for (const [seconds, text] of values) {
        const [at, value] = [Math.round(seconds * 1000), Number(text)];
        const pod = own.find(({ created, end }) => created <= at && at <= (end?.at ?? Infinity));
        if (pod !== undefined && Number.isFinite(value)) samples.push({ pod: pod.uid, at, value });
      }
    }
  return samples.toSorted((a, b) => a.at - b.at);
}

/** Reads the hourly means of the collectives of a run. */
async function collectiveHours(
  server: TrainingServer,
  run: Run,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly CollectiveHour[]> {
  const hosts = run.pods.flatMap(({ name, node }) => [name, node]);
  const span = { fromMillis: hourOf(from) + HOUR_MILLIS, untilMillis: hourOf(until - 1) + HOUR_MILLIS };
  const found = new Map<string, CollectiveHour>();
  for (const [measure, names] of [
    ["gbs", BANDWIDTH],
    ["micros", TIME],
  ] as const) {
    const means = HOST.map((label) => {
      const matcher = { label, is: "=~", value: anyOf(hosts) } as const;
      const values = `avg_over_time(${selector(server, run, { matching: names }, matcher)}[1h])`;
      return `avg by (${[label, ...KIND].join(", ")}) (${values})`;
    });
    for (const expression of means)
      for (const { metric, values = [] } of await queryRange(server.client, expression, span, HOUR_MILLIS))
        for (const [seconds, text] of values) {
          const one = hourOfCollective(metric, run, seconds * 1000 - HOUR_MILLIS);
          const key = JSON.stringify(one);
          const value = Number(text);
          if (Number.isFinite(value))
            found.set(key, { ...(found.get(key) ?? { ...one, gbs: undefined, micros: undefined }), [measure]: value });
        }
  }
  return [...found.values()].toSorted((a, b) => a.hour - b.hour);
}

function hourOfCollective(
  metric: QueriedSeries["metric"],
  { pods }: Run,
  hour: number,
): Omit<CollectiveHour, "gbs" | "micros"> {
  const host = first(metric, HOST);
  const named = pods.filter(({ name }) => name === host);
  const pod = named.findLast(({ created }) => created < hour + HOUR_MILLIS) ?? named[0];
  return {
    hour,
    node: pod?.node ?? host,
    pod: pod?.name ?? "",
    gpu: metric["gpu"] ?? "",
    operation: first(metric, ["collective", "p2p_operation"]),
    size: metric["message_size"] ?? "",
    nodes: Number(metric["n_nodes"] ?? 0),
    ranks: Number(metric["nranks"] ?? 0),
  };
}

/** Returns the selector of a series, or of those whose names match, with the cluster of a run. */
function selector(
  { clusterLabel }: TrainingServer,
  { cluster }: Run,
  name: string | { readonly matching: string },
  matcher: Matcher,
): string {
  return selectorOf([
    typeof name === "string"
      ? { label: "__name__", is: "=", value: name }
      : { label: "__name__", is: "=~", value: name.matching },
    ...(clusterLabel === undefined ? [] : [{ label: clusterLabel, is: "=", value: cluster } as const]),
    matcher,
  ]);
}

/** Returns a regular expression for any of some names. */
function anyOf(names: readonly string[]): string {
  return [...new Set(names)].map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join("|");
}

/** Returns the value of the first of some labels that is not empty. */
function first(labels: Labels, names: readonly string[]): string {
  return names.map((name) => labels[name] ?? "").find((value) => value !== "") ?? "";
}
