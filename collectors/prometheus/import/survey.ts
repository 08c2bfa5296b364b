import { DIALECTS } from "../../../domain/dialect/known.ts";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../../domain/time.ts";
import type { PrometheusClient } from "../read/client.ts";
import { inParts } from "../read/in-parts.ts";
import { queryRange, selectorOf } from "../read/query.ts";
import type { SampleSource } from "../read/source.ts";
import type { Span } from "../read/samples.ts";
import type { Matcher } from "../read/wire.ts";
import { countSeries, findNames, findValues, named, type FoundNames } from "./discover.ts";
import { intervalOf } from "./scrapes.ts";
import { createWindows } from "./windows.ts";

/** The data that a server has for an import. */
export interface Survey {
  readonly names: FoundNames;
  readonly gpu: SurveyedSeries;
  /** The kinds whose own labels kube-state-metrics exports. */
  readonly labeled: ReadonlySet<LabeledKind>;
  /** The span between the first and the last sample of a GPU; undefined if there is none. */
  readonly found: Span | undefined;
  /** The times within the found span at which no GPU has a sample. */
  readonly gaps: readonly Span[];
  /** The jobs with series of GPUs at some times of the span, and the number of series of each at most. */
  readonly jobs: ReadonlyMap<string, number>;
  /** All jobs with series of GPUs at any time of the span. */
  readonly allJobs: readonly string[];
  readonly targets: readonly SurveyedTarget[];
}

/** The kinds of objects whose labels an import needs. */
export type LabeledKind = "pod" | "namespace" | "node";

/** The series of one kind at most. */
export interface SurveyedSeries {
  readonly series: number;
  readonly intervalMillis: number;
}

/** A target at the newest time with samples. */
export interface SurveyedTarget {
  readonly job: string;
  readonly instance: string;
  /** The number of Prometheus servers that scrape the target. */
  readonly replicas: number;
  readonly hasUp: boolean;
  readonly metrics: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
}

/** The most steps of a look over the whole span. */
const MOST_STEPS = 500;
const MOST_LOOKS = 6;
const USUAL_INTERVAL_MILLIS = 30_000;
/** The time before the last sample that is read in full. */
const NEWEST_MILLIS = 10 * MINUTE_MILLIS;

/** Looks at what a server has in a span, with few and small queries. Fails with a `SourceError`. */
export async function surveyServer(
  client: PrometheusClient,
  source: SampleSource,
  conditions: readonly Matcher[],
  span: Span,
): Promise<Survey> {
  const names = await findNames(client, span);
  if (names.gpu.length === 0) return nothing(names);
  const matchers = [named(names.gpu), ...conditions];
  const usual = names.gpu.filter((name) => isUsual(name));
  const { step, times } = await stepsWithSamples(
    client,
    [named(usual.length > 0 ? usual : names.gpu), ...conditions],
    span,
  );
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return nothing(names);
  const jobs = new Map<string, number>();
  let series = 0;
  for (const at of spread(times, MOST_LOOKS)) {
    const counts = await countSeries(client, matchers, at);
    series = Math.max(
      series,
      [...counts.values()].reduce((sum, count) => sum + count, 0),
    );
    for (const [job, count] of counts) jobs.set(job, Math.max(jobs.get(job) ?? 0, count));
  }
  const allJobs = await findValues(client, "job", matchers, span);
  const newest = { fromMillis: last - NEWEST_MILLIS, untilMillis: last + 1 };
  const windows = createWindows(newest, NEWEST_MILLIS / USUAL_INTERVAL_MILLIS);
  await inParts(newest, MINUTE_MILLIS, (part) =>
    source.read([named([...names.gpu, "up"]), ...conditions, ofJobs(allJobs)], part, windows.onSeries),
  );
  const targets = windows.targets();
  const intervals = targets.map(({ replicas: [replica] }) =>
    intervalOf(replica!.window.moments().map(({ atMillis }) => atMillis)),
  );
  return {
    names,
    gpu: { series, intervalMillis: middle(intervals) },
    labeled: await findLabeled(source, names.all, conditions, newest),
    found: {
      fromMillis: Math.max(span.fromMillis, first - step),
      untilMillis: Math.min(span.untilMillis, last + step),
    },
    gaps: gapsBetween(times, step),
    jobs,
    allJobs,
    targets: targets.flatMap(({ replicas }) => {
      const all = replicas.flatMap(({ window }) => window.series).filter(({ name }) => name !== "up");
      const [one] = all;
      if (one === undefined) return [];
      return {
        job: one.labels.get("job") ?? "",
        instance: one.labels.get("instance") ?? "",
        replicas: replicas.length,
        hasUp: replicas.some(({ up }) => up !== undefined),
        metrics: new Set(all.map(({ name }) => name)),
        labels: new Set(all.flatMap(({ labels }) => [...labels.keys()])),
      };
    }),
  };
}

/** Columns of which each exporter has a metric. */
const USUAL_COLUMNS = ["gpu_utilization_ratio", "fb_used_bytes"];

function isUsual(name: string): boolean {
  const aliases = DIALECTS.find(({ owns }) => owns(name))?.aliases(name) ?? [];
  return aliases.some(({ column }) => USUAL_COLUMNS.includes(column));
}

function nothing(names: FoundNames): Survey {
  const none = { series: 0, intervalMillis: USUAL_INTERVAL_MILLIS };
  return {
    names,
    gpu: none,
    labeled: new Set(),
    found: undefined,
    gaps: [],
    jobs: new Map(),
    allJobs: [],
    targets: [],
  };
}

const LABELED: readonly LabeledKind[] = ["pod", "namespace", "node"];

/** Returns the kinds of objects with labels of their own in the series of kube-state-metrics. */
async function findLabeled(
  source: SampleSource,
  names: ReadonlySet<string>,
  conditions: readonly Matcher[],
  span: Span,
): Promise<ReadonlySet<LabeledKind>> {
  const found = new Set<LabeledKind>();
  for (const kind of LABELED) {
    const name = `kube_${kind}_labels`;
    if (!names.has(name)) continue;
    await inParts(span, MINUTE_MILLIS, (part) =>
      source.read([named([name]), ...conditions], part, ({ labels }) => {
        if ([...labels.keys()].some((label) => label.startsWith("label_"))) found.add(kind);
        return () => {};
      }),
    );
  }
  return found;
}

/** Returns the matcher for some jobs, and for series without a job, which a federation can have. */
export function ofJobs(jobs: readonly string[]): Matcher {
  return { ...named(["", ...jobs]), label: "job" };
}

/** Returns the steps of a span at which a series has samples. Prometheus looks back 5 minutes from each step. */
async function stepsWithSamples(
  client: PrometheusClient,
  matchers: readonly Matcher[],
  span: Span,
): Promise<{ readonly step: number; readonly times: readonly number[] }> {
  const length = span.untilMillis - span.fromMillis;
  const step = Math.min(
    HOUR_MILLIS,
    Math.max(MINUTE_MILLIS, Math.ceil(length / MOST_STEPS / MINUTE_MILLIS) * MINUTE_MILLIS),
  );
  const withEnd = { ...span, untilMillis: span.untilMillis + 1 };
  const result = await queryRange(client, `count(${selectorOf(matchers)})`, withEnd, step);
  return {
    step,
    times: result.flatMap(({ values = [] }) => values.map(([seconds]) => Math.round(seconds * 1000))),
  };
}

function gapsBetween(times: readonly number[], step: number): readonly Span[] {
  return times.slice(1).flatMap((at, index) => {
    const before = times[index]!;
    return at - before > step ? [{ fromMillis: before, untilMillis: at }] : [];
  });
}

/** Returns at most `most` of some items, spread evenly, with the first and the last. */
function spread<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, index) => items[Math.round((index * (items.length - 1)) / (most - 1))]!);
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? USUAL_INTERVAL_MILLIS;
}
