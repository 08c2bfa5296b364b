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
/** Pixels of one of a dashboard's 24 columns on a screen of 1920: a panel asks for so many points at most. */
const PIXELS_OF_COLUMN = 80;
/** And what marks drawings for so many. */
const POINTS_OF_MARKS = 100;
/** Grafana takes the step that a distance of two points is nearest to, in seconds (`roundInterval` of its intervalv2). */
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
 * How long a real Prometheus takes for each panel and variable of a week of 10,000 GPUs, as Grafana asks: with all of every variable chosen
 * that can be several, and with one value of each. A panel's queries are asked one after another.
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
    // Blocks stay as they are: compaction would take what is measured from its core.
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

/** All that panels read, and nothing else. Fails where they read what the week has not got. */
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
  // Of names that exporters have for one thing, this fleet's has one.
  const known = new Set([...families.map(({ name }) => name), ...everyExporterName()]);
  const lacking = [...read].filter((name) => !known.has(name));
  if (lacking.length > 0) throw new Error(`the week has no ${lacking.join(", ")}`);
  return { families, shown: fleet.shown };
}

function queriesOf({ queries }: Panel): readonly PrometheusQuery[] {
  return queries.filter((query): query is PrometheusQuery => query.source === "prometheus");
}

/** The medians of a dashboard's variables and panels, of each the slower of both choices. */
async function askedOf(
  { title, variables, annotations, sections }: Dashboard,
  prometheus: PrometheusServer,
  shown: Shown["chosen"],
): Promise<readonly number[]> {
  const all = { ...shown, ...Object.fromEntries(variables.filter(isOfAll).map(({ name }) => [name, ALL])) };
  const medians: number[] = [];
  const measure = async (what: string, ask: (chosen: Shown["chosen"]) => Promise<number>): Promise<void> => {
    if ((await ask(all)) === 0) throw new Error(`${title}: ${what} is answered by nothing`);
    const ofAll = await asked(`${title}: ${what}`, () => ask(all));
    medians.push(Math.max(ofAll, await asked("  of one value each", () => ask(shown))));
  };
  for (const { name, query } of variables)
    if (query.source === "prometheus") await measure(`$${name}`, (chosen) => values(prometheus, query, chosen));
  for (const { name, expr } of annotations)
    await measure(`marks of ${name}`, (chosen) => answers(prometheus, [range(expr, "")], POINTS_OF_MARKS, chosen));
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

/** How many values there are to choose from. */
async function values(
  prometheus: PrometheusServer,
  { selector, of }: LabelQuery,
  chosen: Shown["chosen"],
): Promise<number> {
  const text = expandedPromql(selector, { ...TIMES, stepSeconds: 0, chosen });
  return (await prometheus.labelValues(of, text, TIMES.fromMillis, TIMES.untilMillis)).length;
}

/** How many series queries give, of so many points at most. */
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
