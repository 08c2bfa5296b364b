import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { everyExporterName } from "../alerts/series/exporter-names.ts";
import { dashboards } from "../dashboards/files.ts";
import { isOverTime, type Dashboard, type Panel, type PrometheusQuery, type Variable } from "../dashboards/model.ts";
import { DEFAULT_DASHBOARD_OPTIONS } from "../dashboards/options.ts";
import { range } from "../dashboards/queries.ts";
import { ALL, expandedPromql, type Shown } from "../test/support/grafana/expand.ts";
import { startPrometheusOn, type PrometheusServer } from "../test/support/prometheus-server.ts";
import { readsOf } from "../test/support/rules/promql-names.ts";
import { ownMegabytes } from "./process.ts";
import { report } from "./report.ts";
import { asked, reportPanels } from "./turns.ts";
import { BLOCK_HOURS, writeWeek } from "./week/blocks.ts";
import { createWeekFleet, FROM, UNTIL } from "./week/fleet.ts";
import { faultFamilies, gpuFamilies } from "./week/gpus.ts";
import { clusterFamilies, nodeFamilies } from "./week/nodes.ts";
import { ownFamilies } from "./week/own.ts";
import { podFamilies } from "./week/pods.ts";
import type { WeekFamily } from "./week/series.ts";

const SETS = dashboards(DEFAULT_DASHBOARD_OPTIONS);
/** The pixels of one of a dashboard's 24 columns on a screen of 1920 pixels: the maximum of points that a panel requests per column. */
const PIXELS_OF_COLUMN = 80;
/** The number of points for annotations. */
const POINTS_OF_MARKS = 100;
/** Grafana's steps, in seconds. Grafana uses the step that is nearest to the distance of two points (`roundInterval` of its intervalv2). */
const STEPS = [
  { below: 210, step: 120 },
  { below: 450, step: 300 },
  { below: 750, step: 600 },
  { below: 1_050, step: 900 },
  { below: 1_500, step: 1_200 },
  { below: 2_700, step: 1_800 },
  { below: 5_400, step: 3_600 },
  { below: 9_000, step: 7_200 },
] as const;
const TIMES = { fromMillis: FROM * 1000, untilMillis: UNTIL * 1000, scrapeSeconds: 30 };

/**
 * The time of a real Prometheus for each panel and variable of a week of 10,000 GPUs, with Grafana's queries: with all values of every variable
 * that can have several, and with one value of each. The queries of a panel run one after another.
 */
export async function benchPanels(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-panels-"));
  try {
    const { families, shown } = week();
    const { blocks, bytes } = await writeWeek(families, join(folder, "data"));
    const samples = blocks.reduce((sum, { numSamples }) => sum + numSamples, 0);
    const series = Math.max(...blocks.map(({ numSeries }) => numSeries));
    process.stdout.write(`  ${samples} samples in ${bytes} bytes, of up to ${series} series in a block\n`);
    await writeFile(join(folder, "prometheus.yaml"), "{}\n");
    // No compaction: it would use CPU time of the measured core.
    const flags = [`--storage.tsdb.max-block-duration=${BLOCK_HOURS}h`];
    const prometheus = await startPrometheusOn(join(folder, "prometheus.yaml"), join(folder, "data"), flags);
    try {
      const medians: number[] = [];
      for (const dashboard of SETS) medians.push(...(await askedOf(dashboard, prometheus, shown)));
      report("Prometheus' own memory", [ownMegabytes(prometheus.processId)], "MB", {});
      reportPanels(medians);
    } finally {
      await prometheus.stop();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the series that panels read, and no others. Fails if panels read series that the week does not have. */
function week(): { readonly families: readonly WeekFamily[]; readonly shown: Shown["chosen"] } {
  const fleet = createWeekFleet();
  const expressions = SETS.flatMap(({ variables, annotations, sections }) => [
    ...variables.flatMap(({ query }) => (query.source === "prometheus" ? query.selector : [])),
    ...annotations.map(({ expr }) => expr),
    ...sections.flatMap(({ panels }) => panels.flatMap(queriesOf).map(({ expr }) => expr)),
  ]).map((expr) => expr.replaceAll(/\$__\w+/g, "5m"));
  const read = new Set(expressions.flatMap((expr) => [...readsOf(expr).series]));
  const families = [
    ...gpuFamilies(fleet),
    ...faultFamilies(fleet),
    ...podFamilies(fleet),
    ...nodeFamilies(fleet),
    ...clusterFamilies(fleet),
    ...ownFamilies(),
  ].filter(({ name }) => read.has(name));
  // Exporters have several names for the same metric. This fleet has one of them.
  const known = new Set([...families.map(({ name }) => name), ...everyExporterName()]);
  const lacking = [...read].filter((name) => !known.has(name));
  if (lacking.length > 0) throw new Error(`the week has no ${lacking.join(", ")}`);
  return { families, shown: fleet.shown };
}

function queriesOf({ queries }: Panel): readonly PrometheusQuery[] {
  return queries.filter((query): query is PrometheusQuery => query.source === "prometheus");
}

/** Returns the medians of a dashboard's variables and panels, each the slower one of both selections. */
async function askedOf(
  { title, variables, annotations, sections }: Dashboard,
  prometheus: PrometheusServer,
  shown: Shown["chosen"],
): Promise<readonly number[]> {
  const all = { ...shown, ...Object.fromEntries(variables.filter(isOfAll).map(({ name }) => [name, ALL])) };
  const medians: number[] = [];
  const measure = async (what: string, ask: (chosen: Shown["chosen"]) => Promise<number>): Promise<void> => {
    if ((await ask(all)) === 0) throw new Error(`${title}: ${what} has no result`);
    const ofAll = await asked(`${title}: ${what}`, () => ask(all));
    medians.push(Math.max(ofAll, await asked("  of one value each", () => ask(shown))));
  };
  for (const { name, query } of variables)
    if (query.source === "prometheus") await measure(`$${name}`, (chosen) => values(prometheus, query, chosen));
  for (const { name, expr } of annotations)
    await measure(`annotations of ${name}`, (chosen) =>
      answers(prometheus, [range(expr, "")], POINTS_OF_MARKS, chosen),
    );
  for (const panel of sections.flatMap(({ panels }) => panels)) {
    const queries = queriesOf(panel);
    const points = panel.width * PIXELS_OF_COLUMN;
    if (queries.length > 0) await measure(panel.title, (chosen) => answers(prometheus, queries, points, chosen));
  }
  return medians;
}

function isOfAll({ isMulti, isHidden = false }: Variable): boolean {
  return isMulti && !isHidden;
}

type LabelQuery = Extract<Variable["query"], { source: "prometheus" }>;

/** Returns the number of values that can be selected. */
async function values(
  prometheus: PrometheusServer,
  { selector, of }: LabelQuery,
  chosen: Shown["chosen"],
): Promise<number> {
  const text = expandedPromql(selector, { ...TIMES, stepSeconds: 0, chosen });
  return (await prometheus.labelValues(of, text, TIMES.fromMillis, TIMES.untilMillis)).length;
}

/** Returns the number of series of queries, each with at most `points` points. */
async function answers(
  prometheus: PrometheusServer,
  queries: readonly PrometheusQuery[],
  points: number,
  chosen: Shown["chosen"],
): Promise<number> {
  const stepSeconds = stepOf(points);
  const aligned = Math.floor(FROM / stepSeconds) * stepSeconds * 1000;
  let series = 0;
  for (const { expr, as } of queries) {
    const text = expandedPromql(expr, { ...TIMES, stepSeconds, chosen });
    const answer = isOverTime({ as })
      ? await prometheus.queryRange(text, aligned, TIMES.untilMillis, stepSeconds)
      : await prometheus.query(text, TIMES.untilMillis);
    series += answer.length;
  }
  return series;
}

function stepOf(points: number): number {
  const distance = (UNTIL - FROM) / points;
  return STEPS.find(({ below }) => distance < below)!.step;
}
