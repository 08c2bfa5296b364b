import { MINUTE_MILLIS } from "../../../domain/time.ts";
import type { SeriesRuns } from "../kube-state/runs.ts";
import { createKubeStateImport, type ImportedMessage, type KubeStateImportOptions } from "../kube-state/import.ts";
import {
  GPU_POD_METRICS,
  GPU_POD_SELECTORS,
  KUEUE_METRICS,
  NAMESPACE_METRICS,
  NODE_METRICS,
  OWNER_METRICS,
  POD_METRICS,
} from "../kube-state/metric-names.ts";
import type { ImportRemark } from "../kube-state/remarks.ts";
import { gpuResourceRegexp } from "../kube-state/resource-name.ts";
import type { PrometheusClient } from "../read/client.ts";
import { inParts } from "../read/in-parts.ts";
import type { SampleSource } from "../read/source.ts";
import type { Span } from "../read/samples.ts";
import type { Matcher } from "../read/wire.ts";
import { named } from "./discover.ts";
import { readRuns } from "./read-runs.ts";
import { intervalOf } from "./scrapes.ts";
import { createWindows } from "./windows.ts";

/** The dependencies of an import of facts. */
export interface FactsOptions {
  readonly client: PrometheusClient;
  readonly source: SampleSource;
  /** The names of all metrics of the server. */
  readonly names: ReadonlySet<string>;
  /** The conditions on the series to read. */
  readonly conditions: readonly Matcher[];
  readonly kube: Pick<KubeStateImportOptions, "cluster" | "projection" | "knownLabels">;
  readonly send: (messages: readonly ImportedMessage[]) => Promise<void>;
  /** Called with the number of objects of a kind whose facts were sent. */
  readonly onSent: (kind: string, objects: number) => void;
  readonly signal: AbortSignal;
}

/** Two samples of kube-state-metrics that are further apart have a gap between them, in intervals. */
const GAP_INTERVALS = 2.5;
/** The time at whose samples the interval of kube-state-metrics is measured. */
const MEASURED_MILLIS = 15 * MINUTE_MILLIS;
/** The most pods that are read together. Each has some dozen series. */
const PODS_OF_READ = 200;
const MESSAGES_OF_BATCH = 500;

/**
 * Sends the facts of a cluster's nodes, namespaces, queues and GPU pods in a span. Returns the remarks on what the series lack; none if
 * kube-state-metrics has no series. Fails with a `SourceError`.
 */
export async function importFacts(options: FactsOptions, span: Span): Promise<readonly ImportRemark[]> {
  const { source, conditions, kube, send, onSent, signal } = options;
  const info = [named(["kube_node_info"]), ...conditions];
  const stepMillis = await intervalIn(source, info, span);
  const gapMillis = GAP_INTERVALS * stepMillis;
  const read = (matchers: readonly Matcher[], within = span): Promise<readonly SeriesRuns[]> => {
    signal.throwIfAborted();
    return readRuns(options, [...matchers, ...conditions], within, gapMillis);
  };
  const ofNames = (names: readonly string[]): Promise<readonly SeriesRuns[]> => {
    const present = names.filter((name) => options.names.has(name));
    return present.length === 0 ? Promise.resolve([]) : read([named(present)]);
  };
  const nodes = await ofNames(NODE_METRICS);
  const kueue = await ofNames(KUEUE_METRICS);
  const facts = createKubeStateImport({
    ...kube,
    ...span,
    seen: spansOf(
      nodes.filter(({ name }) => name === "kube_node_info"),
      gapMillis,
    ),
    kueueSeen: spansOf(kueue, gapMillis),
    stepMillis,
  });
  const sendAll = async (kind: string, lists: AsyncGenerator<readonly ImportedMessage[]>): Promise<void> => {
    let [objects, batch]: [number, ImportedMessage[]] = [0, []];
    for await (const messages of lists) {
      objects += 1;
      batch.push(...messages);
      if (batch.length < MESSAGES_OF_BATCH) continue;
      await send(batch);
      batch = [];
    }
    if (batch.length > 0) await send(batch);
    if (objects > 0) onSent(kind, objects);
  };
  await sendAll("nodes", facts.nodes(nodes));
  await sendAll("queues", facts.queues(kueue));
  await sendAll("namespaces and quotas", facts.namespaces(await ofNames(NAMESPACE_METRICS)));
  facts.takeOwners(await ofNames(OWNER_METRICS));
  const pods = await findPods(options, span);
  const metrics = POD_METRICS.filter((name) => options.names.has(name));
  for (let first = 0; first < pods.length; first += PODS_OF_READ) {
    const part = pods.slice(first, first + PODS_OF_READ);
    const lived = {
      fromMillis: Math.min(...part.map(({ fromMillis }) => fromMillis)),
      untilMillis: Math.max(...part.map(({ untilMillis }) => untilMillis)),
    };
    const isOf = { ...named(part.map(({ name }) => name)), label: part[0]!.label };
    await sendAll("pods", facts.pods(await read([named(metrics), isOf], lived)));
  }
  return facts.remarks();
}

/** Returns the matchers of a selector with a name and one condition. */
function matchersOf(selector: string): readonly Matcher[] {
  const [, name = "", label = "", is = "=", value = ""] = /^(\w+)\{(\w+)(!?=)"([^"]*)"\}$/.exec(selector) ?? [];
  return [
    { label: "__name__", is: "=", value: name },
    { label, is: is as "=" | "!=", value },
  ];
}

/** Returns the time between two samples of the first series that matchers find. */
async function intervalIn(source: SampleSource, matchers: readonly Matcher[], { untilMillis }: Span): Promise<number> {
  const span = { fromMillis: untilMillis - MEASURED_MILLIS, untilMillis };
  const windows = createWindows(span, 1);
  await inParts(span, MINUTE_MILLIS, (part) => source.read(matchers, part, windows.onSeries));
  const [target] = windows.targets();
  return intervalOf((target?.replicas[0]?.window.moments() ?? []).map(({ atMillis }) => atMillis));
}

/** Returns the spans in which any of some series has samples, in order of time. */
function spansOf(series: readonly SeriesRuns[], gapMillis: number): readonly Span[] {
  const runs = series.flatMap((each) => each.runs).toSorted((a, b) => a.fromMillis - b.fromMillis);
  const spans: { readonly fromMillis: number; untilMillis: number }[] = [];
  for (const { fromMillis, untilMillis } of runs) {
    const last = spans.at(-1);
    if (last !== undefined && fromMillis - last.untilMillis <= gapMillis)
      last.untilMillis = Math.max(last.untilMillis, untilMillis);
    else spans.push({ fromMillis, untilMillis });
  }
  return spans;
}

/** A GPU pod's name, the label that has the name, and the time of its samples. */
interface FoundPod extends Span {
  readonly label: "pod" | "exported_pod";
  readonly name: string;
}

/** Finds the pods that request GPUs, with the longest-lived first: pods of a similar time are read together. */
async function findPods(options: FactsOptions, span: Span): Promise<readonly FoundPod[]> {
  const { names, conditions, kube, signal } = options;
  const resource = {
    label: "resource",
    is: "=~",
    value: gpuResourceRegexp(kube.projection.pods.resourceNames),
  } as const;
  const selections = [
    [named(GPU_POD_METRICS.filter((name) => names.has(name))), resource],
    ...GPU_POD_SELECTORS.map(matchersOf),
  ];
  const found = new Map<string, FoundPod>();
  for (const selection of selections) {
    signal.throwIfAborted();
    for (const { labels, runs } of await readRuns(options, [...selection, ...conditions], span, MEASURED_MILLIS)) {
      const label = labels.has("exported_pod") ? "exported_pod" : "pod";
      const name = labels.get(label) ?? "";
      const known = found.get(name);
      const [fromMillis, untilMillis] = [runs[0]?.fromMillis ?? span.untilMillis, (runs.at(-1)?.untilMillis ?? 0) + 1];
      found.set(name, {
        label,
        name,
        fromMillis: Math.min(known?.fromMillis ?? Infinity, fromMillis),
        untilMillis: Math.max(known?.untilMillis ?? 0, untilMillis),
      });
    }
  }
  return [...found.values()].toSorted((a, b) => a.fromMillis - b.fromMillis || a.untilMillis - b.untilMillis);
}
