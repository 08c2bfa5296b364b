import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dashboards } from "../../dashboards/files.ts";
import { DEFAULT_DASHBOARD_OPTIONS } from "../../dashboards/options.ts";
import { isOverTime, type Dashboard, type Panel, type PrometheusQuery, type Variable } from "../../dashboards/model.ts";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { ALL, expandedPromql, type Shown } from "../support/grafana/expand.ts";
import { startHistory, type Past } from "../support/grafana/history.ts";
import { requirePart } from "../support/parts.ts";
import type { AnsweredSeries, PrometheusServer } from "../support/prometheus-server.ts";

const hasPrometheus = requirePart("prometheus");
const FLEET = createFleet({ seed: 3, gpus: 24 });
/** A morning on which a GPU reported an XID, another one fell off the bus for hours, and finally one became hot. */
const PAST: Past = { fromMillis: Date.UTC(2026, 2, 4, 2), untilMillis: Date.UTC(2026, 2, 4, 14), stepSeconds: 60 };
/** The maximum number of choices of a dashboard's variables that are checked. */
const MOST_CHOICES = 30;
/** The times at which the instant queries are evaluated. */
const LOOKS = Array.from({ length: 11 }, (_, hour) => PAST.fromMillis + (hour + 1) * 3_600_000);
const SETS = dashboards(DEFAULT_DASHBOARD_OPTIONS);
const PANELS = SETS.flatMap((dashboard) =>
  dashboard.sections.flatMap(({ panels }) =>
    panels
      // Panels with processors' series are tested with a running one: dashboards-live.test.ts.
      .filter(({ needs }) => needs === "A" || needs === "B")
      .map((panel) => ({ name: `${dashboard.title}: ${panel.title}`, dashboard, panel })),
  ),
);
/** Panels that are correctly empty here, with the reason. */
const NO_SUCH_ERROR = "the demo's GPUs have no such errors; that they are recorded is shown by cases of the rules";
const EMPTY: Readonly<Record<string, string>> = {
  "GPU and node: NVLink errors": NO_SUCH_ERROR,
  "GPU and node: PCIe replays": NO_SUCH_ERROR,
  "GPU and node: Memory errors": NO_SUCH_ERROR,
  "GPU teams and namespaces: Idle for a day":
    "it takes a day, and this past is half of one; cases of the rules have some",
  "GPU health: Device plugins": "the demo's nodes come with their GPUs: no pod is a device plugin's",
};
/** Labels that only some devices have. */
const OF_SOME = new Set(["GPU_I_ID", "cluster"]);

describe.skipIf(!hasPrometheus)("the queries of dashboards against a real Prometheus", () => {
  let prometheus: PrometheusServer;
  /** The choices of people who open a dashboard, by the dashboard's uid: one value for each variable with one. */
  const shown = new Map<string, readonly Shown[]>();

  beforeAll(async () => {
    prometheus = await startHistory(FLEET, PAST);
    for (const dashboard of SETS) shown.set(dashboard.uid, await chosenOf(dashboard));
  }, 1_200_000);
  afterAll(() => prometheus?.stop());

  async function chosenOf({ variables }: Dashboard): Promise<readonly Shown[]> {
    const times = { fromMillis: PAST.fromMillis, untilMillis: PAST.untilMillis, stepSeconds: 120, scrapeSeconds: 60 };
    let all: readonly Shown[] = [{ ...times, chosen: {} }];
    for (const { name, query, isMulti, isHidden = false } of variables) {
      const next = all.map(async ({ chosen }) => {
        const values = query.source === "clickhouse" ? [] : await valuesOf(query, { ...times, chosen });
        // Without values nothing is chosen: a cluster in a Prometheus that names none.
        const choices = isMulti ? [isHidden ? values : ALL] : values.length === 0 ? [""] : values;
        return choices.map((value) => ({ ...times, chosen: { ...chosen, [name]: value } }));
      });
      all = (await Promise.all(next)).flat().slice(0, MOST_CHOICES);
    }
    return all;
  }

  const valuesOf = (query: LabelQuery, shown: Shown): Promise<readonly string[]> =>
    prometheus.labelValues(query.of, expandedPromql(query.selector, shown), PAST.fromMillis, PAST.untilMillis);

  async function ask({ expr, as }: PrometheusQuery, of: Shown): Promise<readonly AnsweredSeries[]> {
    const text = expandedPromql(expr, of);
    if (isOverTime({ as })) return prometheus.queryRange(text, of.fromMillis, of.untilMillis, of.stepSeconds);
    return (await Promise.all(LOOKS.map((at) => prometheus.query(text, at)))).flat();
  }

  it.each(PANELS)("$name", async ({ name, dashboard, panel }) => {
    const asked = shown.get(dashboard.uid)!.flatMap((of) =>
      panel.queries.map(async (each) => {
        const query = each as PrometheusQuery;
        return { named: namedBy(query, panel), series: await ask(query, of) };
      }),
    );
    const answers = await Promise.all(asked);
    for (const { named, series } of answers)
      for (const { metric } of series) expect(Object.keys(metric)).toEqual(expect.arrayContaining([...named]));
    const isEmpty = answers.every(({ series }) => series.length === 0);
    expect(isEmpty ? (EMPTY[name] ?? "no known reason") : undefined).toBe(EMPTY[name]);
  });
});

type LabelQuery = Extract<Variable["query"], { source: "prometheus" }>;

/** The labels in a legend or in a table's columns. */
function namedBy({ legend = "", as }: PrometheusQuery, { view }: Panel): readonly string[] {
  const labels =
    as === "table" && view.kind === "table"
      ? view.columns.map(({ field }) => field).filter((field) => !field.startsWith("Value"))
      : [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
  return labels.filter((label) => !OF_SOME.has(label));
}
