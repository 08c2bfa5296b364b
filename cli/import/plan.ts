import { NEVER_EXPORTED } from "../../collectors/prometheus/kube-state/remarks.ts";
import { named } from "../../collectors/prometheus/import/discover.ts";
import type { LabeledKind, Survey } from "../../collectors/prometheus/import/survey.ts";
import { inParts } from "../../collectors/prometheus/read/in-parts.ts";
import type { SampleSource } from "../../collectors/prometheus/read/source.ts";
import type { Span } from "../../collectors/prometheus/read/samples.ts";
import type { Matcher } from "../../collectors/prometheus/read/wire.ts";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";
import { renderTable } from "../table.ts";
import { durationText } from "./duration.ts";
import { minuteOf } from "./view.ts";

/** The plan of an import: what the server has, what is missing, and how long the import will take. */
export interface ImportPlan {
  readonly way: SampleSource["way"];
  readonly from: string;
  readonly until: string;
  /** True if the server has nothing at the beginning of the requested time. */
  readonly beginsLater: boolean;
  readonly gaps: readonly { readonly from: string; readonly until: string }[];
  readonly jobs: readonly { readonly job: string; readonly targets: number; readonly series: number }[];
  readonly series: number;
  readonly intervalSeconds: number;
  /** The expected number of values. */
  readonly values: number;
  readonly metrics: readonly string[];
  /** Sentences about data that is missing. */
  readonly missing: readonly string[];
  readonly seconds: number;
}

/** A time of this length is read for a trial. */
const TRIAL_MILLIS = 30 * MINUTE_MILLIS;
const MOST_GAPS = 20;
/** The making and sending of messages takes about as long as the reading. */
const WORK_PER_READING = 2;

/** Returns the plan of an import. Reads half an hour of samples to see how fast the server is. Fails with a `SourceError`. */
export async function planOf(
  {
    source,
    survey,
    conditions,
  }: {
    readonly source: SampleSource;
    readonly survey: Survey;
    readonly conditions: readonly Matcher[];
  },
  asked: Span,
): Promise<ImportPlan> {
  const found = survey.found!;
  const trial = {
    fromMillis: Math.max(found.fromMillis, found.untilMillis - TRIAL_MILLIS),
    untilMillis: found.untilMillis,
  };
  const begun = performance.now();
  let read = 0;
  await inParts(trial, MINUTE_MILLIS, (part) =>
    source.read(
      [named(survey.names.gpu), ...conditions],
      part,
      () =>
        ({ count }) =>
          void (read += count),
    ),
  );
  const perValue = (performance.now() - begun) / Math.max(1, read);
  const { series, intervalMillis } = survey.gpu;
  const values = Math.round((series * (found.untilMillis - found.fromMillis - lengthOf(survey.gaps))) / intervalMillis);
  return {
    way: source.way,
    from: minuteOf(found.fromMillis),
    until: minuteOf(found.untilMillis),
    beginsLater: found.fromMillis - asked.fromMillis > 2 * HOUR_MILLIS,
    gaps: survey.gaps.map(({ fromMillis, untilMillis }) => ({
      from: minuteOf(fromMillis),
      until: minuteOf(untilMillis),
    })),
    jobs: [...survey.jobs].map(([job, ofJob]) => ({
      job,
      targets: survey.targets.filter((target) => target.job === job).length,
      series: ofJob,
    })),
    series,
    intervalSeconds: intervalMillis / 1000,
    values,
    metrics: survey.names.gpu,
    missing: missingIn(survey),
    seconds: (values * perValue * WORK_PER_READING) / 1000,
  };
}

function lengthOf(gaps: readonly Span[]): number {
  return gaps.reduce((sum, { fromMillis, untilMillis }) => sum + untilMillis - fromMillis, 0);
}

function missingIn({ names, targets, labeled }: Survey): readonly string[] {
  const without = (is: (target: Survey["targets"][number]) => boolean): number =>
    targets.filter((each) => !is(each)).length;
  const some = (count: number): string =>
    count === targets.length ? "No target" : `${targets.length - count} of ${targets.length} targets`;
  const has = (pattern: RegExp): boolean => names.gpu.some((name) => pattern.test(name));
  const hasState = names.all.has("kube_pod_info");
  const noUp = without(({ hasUp }) => hasUp);
  const noHost = without(({ labels }) => HOST_LABELS.some((label) => labels.has(label)));
  const noUuid = without(({ labels }) => [...labels].some((label) => /uuid/i.test(label)));
  return [
    ...(noUp === 0
      ? []
      : [
          `${some(noUp)} has the series up: failed scrapes are gaps, and the pod of an exporter can look like a pod that holds the GPU.`,
        ]),
    ...(noHost === 0 || hasState
      ? []
      : [
          `${some(noHost)} has a label with its node, and there is no kube_pod_info: the address of the target is the name of the node.`,
        ]),
    ...(noUuid === 0
      ? []
      : [
          `${some(noUuid)} has a label with the UUID of the GPU: a GPU that moved to another slot cannot be recognized.`,
        ]),
    ...(has(/PROF_GR_ENGINE_ACTIVE/i) || !has(/^DCGM_/i)
      ? []
      : [
          "DCGM_FI_PROF_GR_ENGINE_ACTIVE is not stored: DCGM_FI_DEV_GPU_UTIL shows the activity, which counts any kernel as the whole GPU.",
        ]),
    ...(has(/(FB_USED|memory|vram)/i) ? [] : ["No metric of used memory is stored."]),
    ...(names.companions.length === 0
      ? []
      : [
          `${names.companions.length} metrics of HAMi's containers are not imported: a shared GPU has the activity of the whole GPU.`,
        ]),
    ...(hasState
      ? []
      : [
          "kube-state-metrics has no series: GPUs have the pods that the exporters name, without owners, and no times of pods.",
        ]),
    ...LABELED_KINDS.flatMap(([kind, sentence]) => (hasState && !labeled.has(kind) ? [sentence] : [])),
    ...(hasState ? [`kube-state-metrics never exports: ${NEVER_EXPORTED.join("; ")}.`] : []),
  ];
}

/** Sentences about kinds without exported labels. */
const LABELED_KINDS: readonly (readonly [LabeledKind, string])[] = [
  ["pod", "kube-state-metrics exports no labels of pods: owner rules by a label of the pod match none."],
  [
    "namespace",
    "kube-state-metrics exports no labels of namespaces: owner rules by a label of the namespace match none.",
  ],
  [
    "node",
    "kube-state-metrics exports no labels of nodes: their instance types, pools and zones are unknown, and prices by them match none.",
  ],
];

const HOST_LABELS = ["node", "kubernetes_node", "nodename", "node_name", "Hostname", "hostname"];

/** Returns a plan as a text for a terminal. */
export function planText(plan: ImportPlan): string {
  const { way, from, until, beginsLater, gaps, jobs, series, intervalSeconds, values, metrics, missing, seconds } =
    plan;
  const table = renderTable(
    ["job", "targets", "series"],
    jobs.map((each) => [each.job, String(each.targets), each.series.toLocaleString("en")]),
  );
  const shown = gaps.slice(0, MOST_GAPS).map((gap) => `  ${gap.from} until ${gap.until}`);
  if (gaps.length > MOST_GAPS) shown.push(`  and ${gaps.length - MOST_GAPS} more`);
  return [
    `from ${from} until ${until}${beginsLater ? "; the server has no earlier sample of a GPU" : ""}`,
    `${series.toLocaleString("en")} series of ${metrics.length} metrics every ${intervalSeconds} s: about ${values.toLocaleString("en")} values`,
    `read by ${way}; about ${durationText(seconds * 1000)}`,
    "",
    table,
    "",
    ...(gaps.length === 0 ? ["no gap of all GPUs"] : ["gaps of all GPUs:", ...shown]),
    "",
    "missing:",
    ...missing.map((sentence) => `  ${sentence}`),
    "",
    "Nothing was written. Without --dry-run, the same command imports this.",
    "",
  ].join("\n");
}
