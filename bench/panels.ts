import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { everyExporterName } from "../alerts/series/exporter-names.ts";
import { dashboards } from "../dashboards/files.ts";
import { isOverTime, type Dashboard, type Panel, type PrometheusQuery, type Variable } from "../dashboards/model.ts";
import { DEFAULT_DASHBOARD_OPTIONS } from "../dashboards/options.ts";
import { range } from "../dashboards/queries.ts";
import { ALL, expandedPromql, type Shown } from "../test/support/grafana/expand.ts";
import { startPrometheusOn, type PrometheusServer } from "../test/support/prometheus-server.ts";
import { readsOf } from "../test/support/rules/promql-names.ts";
import { defineBench, medianOf, report } from "./frame.ts";
import { ownMegabytes, secondsOf } from "./measure.ts";
import { BLOCK_HOURS, createWeekFleet, FROM, UNTIL, writeWeek, type WeekFamily, type WeekFleet } from "./week.ts";
import { weekFamilies } from "./week-families.ts";

const RUNS = 5;
const SETS = dashboards(DEFAULT_DASHBOARD_OPTIONS);
/** The pixels of one of a dashboard's 24 columns on a screen of 1920 pixels: the maximum of points that a panel requests per column. */
const PIXELS_OF_COLUMN = 80;
/** The number of points for annotations. */
const POINTS_OF_MARKS = 100;
/** Grafana's steps in seconds, each after its bound. Grafana uses the step that is nearest to the distance of two points (`roundInterval` of its intervalv2). */
const STEPS = [
  [210, 120],
  [450, 300],
  [750, 600],
  [1_050, 900],
  [1_500, 1_200],
  [2_700, 1_800],
  [5_400, 3_600],
  [9_000, 7_200],
] as const;
const TIMES = { fromMillis: FROM * 1000, untilMillis: UNTIL * 1000, scrapeSeconds: 30 };

/**
 * The time of a real Prometheus for each panel and variable of a week of a fleet, with Grafana's queries: with all values of every variable
 * that can have several, and with one value of each. The queries of a panel run one after another.
 */
export const panels = defineBench({
  name: "panels",
  about: "dashboards' queries to a real Prometheus, for a week of a fleet",
  options: { nodes: 1_250 },
  async run({ nodes }, kit) {
    const folder = kit.folder();
    const fleet = createWeekFleet(nodes);
    await writeWeek(familiesOf(fleet), join(folder, "data"));
    await writeFile(join(folder, "prometheus.yaml"), "{}\n");
    // No compaction: it would use CPU time of the measured core.
    const flags = [`--storage.tsdb.max-block-duration=${BLOCK_HOURS}h`];
    const prometheus = await startPrometheusOn(join(folder, "prometheus.yaml"), join(folder, "data"), flags);
    kit.atEnd(() => prometheus.stop());
    const medians: number[] = [];
    for (const dashboard of SETS) medians.push(...(await measureDashboard(dashboard, prometheus, fleet.shown)));
    report("Prometheus' own memory", ownMegabytes(prometheus.processId), "MB");
    const sorted = medians.toSorted((a, b) => a - b);
    report("19 of 20 panels", sorted[Math.ceil(sorted.length * 0.95) - 1]!, "ms", { atMost: 500 });
  },
});

/** Returns the series that panels read, and no others. Fails if panels read series that the week does not have. */
function familiesOf(fleet: WeekFleet): readonly WeekFamily[] {
  const expressions = SETS.flatMap(({ variables, annotations, sections }) => [
    ...variables.flatMap(({ query }) => (query.source === "prometheus" ? query.selector : [])),
    ...annotations.map(({ expr }) => expr),
    ...sections.flatMap(({ panels: all }) => all.flatMap(queriesOf).map(({ expr }) => expr)),
  ]).map((expr) => expr.replaceAll(/\$__\w+/g, "5m"));
  const read = new Set(expressions.flatMap((expr) => [...readsOf(expr).series]));
  const families = weekFamilies(fleet).filter(({ name }) => read.has(name));
  // Exporters have several names for the same metric. This fleet has one of them.
  const known = new Set([...families.map(({ name }) => name), ...everyExporterName()]);
  const lacking = [...read].filter((name) => !known.has(name));
  if (lacking.length > 0) throw new Error(`the week has no ${lacking.join(", ")}`);
  return families;
}

function queriesOf({ queries }: Panel): readonly PrometheusQuery[] {
  return queries.filter((query): query is PrometheusQuery => query.source === "prometheus");
}

/** Returns the medians of a dashboard's variables and panels in milliseconds, each the slower one of both selections. */
async function measureDashboard(
  { title, variables, annotations, sections }: Dashboard,
  prometheus: PrometheusServer,
  shown: Shown["chosen"],
): Promise<readonly number[]> {
  const isOfAll = ({ isMulti, isHidden = false }: Variable): boolean => isMulti && !isHidden;
  const all = { ...shown, ...Object.fromEntries(variables.filter(isOfAll).map(({ name }) => [name, ALL])) };
  const medians: number[] = [];
  const measure = async (what: string, ask: (chosen: Shown["chosen"]) => Promise<number>): Promise<void> => {
    if ((await ask(all)) === 0) throw new Error(`${title}: ${what} has no result`);
    const both: number[] = [];
    for (const [named, chosen] of [[`${title}: ${what}`, all] as const, ["  of one value each", shown] as const]) {
      const millis = (await secondsOf(() => ask(chosen), RUNS)).map((seconds) => seconds * 1000);
      report(named, millis, "ms");
      both.push(medianOf(millis));
    }
    medians.push(Math.max(...both));
  };
  for (const { name, query } of variables)
    if (query.source === "prometheus") await measure(`$${name}`, (chosen) => values(prometheus, query, chosen));
  for (const { name, expr } of annotations) {
    const queries = [range(expr, "")];
    await measure(`annotations of ${name}`, (chosen) => answers(prometheus, queries, POINTS_OF_MARKS, chosen));
  }
  for (const panel of sections.flatMap((section) => section.panels)) {
    const queries = queriesOf(panel);
    const points = panel.width * PIXELS_OF_COLUMN;
    if (queries.length > 0) await measure(panel.title, (chosen) => answers(prometheus, queries, points, chosen));
  }
  return medians;
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
  return STEPS.find(([bound]) => distance < bound)![1];
}
