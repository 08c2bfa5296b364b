import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ruleGroups } from "../../../alerts/generate.ts";
import { everyExporterName } from "../../../alerts/series/exporter-names.ts";
import { OWN_SERIES } from "../../../alerts/series/own.ts";
import { STATE_SERIES } from "../../../alerts/series/state.ts";
import { dashboardFiles, dashboards } from "../../../dashboards/files.ts";
import { UIDS } from "../../../dashboards/links.ts";
import { DEFAULT_DASHBOARD_OPTIONS } from "../../../dashboards/options.ts";
import { isOverTime, LEVELS, type Dashboard, type Link, type Panel } from "../../../dashboards/model.ts";
import { dashboardOf } from "../../../dashboards/render/dashboard.ts";
import { READER_GRANTS } from "../../../reports/access/reader-grants.ts";
import { METRIC_DEFINITIONS } from "../../../runtime/telemetry/metrics.ts";
import { readsOf } from "../../support/rules/promql-names.ts";

const ALL = dashboards(DEFAULT_DASHBOARD_OPTIONS);
const panelsOf = ({ sections }: Dashboard): readonly Panel[] => sections.flatMap(({ panels }) => panels);
const PANELS = ALL.flatMap((dashboard) => panelsOf(dashboard).map((panel) => ({ dashboard, panel })));
const named = ({ dashboard, panel }: (typeof PANELS)[number]): string => `${dashboard.title}: ${panel.title}`;
const linksOf = ({ links = [], view }: Panel): readonly Link[] => [
  ...links,
  ...(view.kind === "table" ? view.columns.flatMap(({ link }) => link ?? []) : []),
];
/** Expressions without the intervals that Grafana inserts. */
const bare = (expr: string): string => expr.replaceAll(/\$__\w+/g, "5m");
const promql = ({ queries }: Panel): readonly string[] =>
  queries.flatMap((query) => (query.source === "prometheus" ? bare(query.expr) : []));

const RECORDED = new Set(
  ruleGroups(DEFAULT_DASHBOARD_OPTIONS).flatMap(({ rules }) =>
    rules.flatMap((rule) => ("record" in rule ? rule.record : [])),
  ),
);
const OWN = new Set([
  ...Object.values(METRIC_DEFINITIONS).flatMap(({ name, type }) =>
    type === "histogram" ? [`${name}_bucket`] : [name],
  ),
  ...Object.keys(OWN_SERIES),
  // The metrics that the library exports for every program.
  "process_resident_memory_bytes",
  "process_cpu_seconds_total",
]);
/** Recorded from our own series: absent without a processor. */
const RECORDED_OF_OWN = new Set(["pod:gpu_cost_per_hour:sum"]);
/** Series of teams by the labels allowed there, without a processor's series. */
const OF_LEVEL_B = /\bteam:|\blabel_(?!replace|join)/;
const OF_LEVEL_A = new Set([...RECORDED, ...everyExporterName(), ...Object.keys(STATE_SERIES), "up", "ALERTS"]);
/**
 * Series with a value for each GPU, pod or node: too much to read for a fleet over days. Faults are few, and the minima of nodes are one for eight.
 */
const ONE_BY_ONE =
  /^(?!(gpu:(xid_new|throttle_reason|telemetry_frozen|ecc_double|uncorrectable_remapped|row_remap_failure|memory_repair|nvlink_crc|pcie_replays)|node:gpus_missing|node:temperature_left:min)|[a-z]+_ledger_|process_|cluster:|team:|ALERTS$)/;
/** A variable with one chosen value, or one that depends on such a variable. */
const NARROWED = /\$(node|namespace|exporter)\b/;
/** The selectors of an expression by their series' names, each with its matchers. */
const selectorsOf = (expr: string): readonly (readonly [name: string, matchers: string])[] => {
  const named = expr.replaceAll(/\{__name__=~"([^"]*)",?/g, (_, names: string) => `${names.split("|")[0]!}{`);
  return [...readsOf(bare(named)).series].flatMap((name) =>
    [...named.matchAll(new RegExp(`(?<![\\w:])${name}(?![\\w:])(\\{[^}]*\\})?`, "g"))].map(
      ([, matchers = ""]) => [name, matchers] as const,
    ),
  );
};
/** The tables that a reader of the store may query, with rows that are rolled up. */
const READABLE = new Set(
  READER_GRANTS.map(({ table }) => table).filter((table) => !["scrapes", "gpu_samples"].includes(table)),
);
const sqlOf = ({ queries }: Panel): readonly string[] =>
  queries.flatMap((query) => (query.source === "clickhouse" ? query.sql : []));
/** The labels that the outermost aggregation of an expression keeps; undefined if there is none. UUIDs and nodes need no cluster. */
const keptBy = (expr: string): readonly string[] | undefined => {
  const [, by] = /^(?:sum|count|max|min|avg|quantile|histogram_quantile)\b(?: by \(([^)]*)\))?/.exec(expr) ?? [];
  return /^(sum|count|max|min|avg|quantile|histogram_quantile)\b/.test(expr)
    ? (by ?? "").split(/,\s*/).filter((label) => !["", "cluster", "le"].includes(label))
    : undefined;
};

describe("the dashboards", () => {
  it("have permanent addresses, and are committed as generated", () => {
    expect(ALL.map(({ uid }) => uid)).toEqual(Object.values(UIDS));
    for (const { name, text } of dashboardFiles(DEFAULT_DASHBOARD_OPTIONS))
      expect(readFileSync(`deploy/grafana/dashboards/${name}`, "utf8")).toBe(text);
  });

  it("have unique titles, and so do their panels", () => {
    for (const titles of [
      ALL.map(({ title }) => title),
      ...ALL.map((each) => panelsOf(each).map(({ title }) => title)),
    ])
      expect(new Set(titles).size).toBe(titles.length);
  });

  it.each(ALL)("$title fills its rows", ({ sections }) => {
    for (const { panels } of sections) {
      let column = 0;
      for (const { width, height } of panels) {
        column += width;
        expect(column).toBeLessThanOrEqual(24);
        if (column === 24) column = 0;
        expect(height).toBeGreaterThanOrEqual(3);
      }
      expect(column).toBe(0);
    }
  });

  it.each(ALL)("$title uses only its own variables", (dashboard) => {
    const known = new Set(["prometheus", "clickhouse", "server", ...dashboard.variables.map(({ name }) => name)]);
    const used = [...JSON.stringify(dashboard).matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name]) => name!);
    expect(used.filter((name) => !known.has(name) && !name.startsWith("__"))).toEqual([]);
  });

  it("have variables that depend only on earlier ones", () => {
    for (const { variables } of ALL) {
      const before = new Set<string>();
      for (const { name, query } of variables) {
        const text = query.source === "prometheus" ? query.selector : query.sql;
        for (const [, used] of text.matchAll(/\$\{?([A-Za-z]\w*)/g)) expect(before).toContain(used);
        before.add(name);
      }
    }
  });

  it("have links only to existing dashboards and variables", () => {
    const links = PANELS.flatMap(({ panel }) => linksOf(panel)).filter(({ url }) => url.startsWith("/d/"));
    expect(links.length).toBeGreaterThan(0);
    for (const { url } of links) {
      const target = ALL.find(({ uid }) => url.startsWith(`/d/${uid}?`))!;
      const names = [...url.matchAll(/var-(\w+)=/g)].map(([, name]) => name!);
      const known = ["prometheus", "clickhouse", ...target.variables.map(({ name }) => name)];
      expect(names.filter((name) => !known.includes(name))).toEqual([]);
      expect(url).toContain("${__url_time_range}");
    }
  });
});

describe.each(PANELS.map((each) => ({ ...each, name: named(each) })))("$name", ({ panel }) => {
  it("explains each panel, and what an empty panel means", () => {
    expect(panel.description).toMatch(/^[A-Z][^]{40,}\.$/);
    expect(panel.empty).toMatch(/^[A-Z].{10,}\.$/);
    expect(panel.title).not.toMatch(/\.$/);
  });

  it("needs only the series of its level", () => {
    const read = promql(panel).flatMap((expr) => [...readsOf(expr).series]);
    const beyond = read.filter((name) => !OF_LEVEL_A.has(name) || RECORDED_OF_OWN.has(name));
    const ofSeries = beyond.length > 0 ? "C" : promql(panel).some((expr) => OF_LEVEL_B.test(expr)) ? "B" : "A";
    expect(panel.needs).toBe(sqlOf(panel).length > 0 ? "D" : ofSeries);
    expect(beyond.filter((name) => !OWN.has(name) && !RECORDED_OF_OWN.has(name))).toEqual([]);
  });

  it("names its series unambiguously", () => {
    for (const query of panel.queries) {
      if (query.source !== "prometheus" || query.as !== "range") continue;
      const labels = [...(query.legend ?? "").matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      const isOfGpus = [...readsOf(bare(query.expr)).series].some((name) => name.startsWith("gpu:"));
      expect(labels).toEqual(expect.arrayContaining([...(keptBy(query.expr) ?? (isOfGpus ? ["node", "UUID"] : []))]));
      expect(query.legend).not.toBe("");
    }
  });

  it("queries the store only for readable tables, of hours and rollups, in the order of time", () => {
    for (const sql of sqlOf(panel)) {
      const tables = [...sql.matchAll(/\b(?:FROM|(?<!ARRAY )JOIN)\s+([a-z]\w*)/g)].map(([, table]) => table!);
      expect(tables.length).toBeGreaterThan(0);
      expect(tables.filter((table) => !READABLE.has(table))).toEqual([]);
      expect(sql).not.toMatch(/\bnow(64)?\(|\btoday\(/);
    }
    const unordered = panel.queries.filter(
      (query) => query.source === "clickhouse" && query.as === "range" && !/ORDER BY time(, \w+)?$/.test(query.sql),
    );
    expect(unordered).toEqual([]);
  });

  it("reads values of each GPU, pod or node over time only for the chosen one", () => {
    const read = panel.queries.flatMap((query) =>
      query.source === "prometheus" && (isOverTime(query) || query.expr.includes("[$__range")) ? [query.expr] : [],
    );
    const whole = read.flatMap(selectorsOf).filter(([, matchers]) => !NARROWED.test(matchers));
    expect(whole.map(([name]) => name).filter((name) => ONE_BY_ONE.test(name))).toEqual([]);
  });
});

describe("thresholds", () => {
  const panelOf = (all: readonly Dashboard[], title: string, uid: string): Panel =>
    panelsOf(all.find((each) => each.uid === uid)!).find((each) => each.title === title)!;

  it("are in every dashboard, and on each panel over time about activity, memory, temperatures or waits", () => {
    const isShown = ({ thresholds, view }: Panel): boolean =>
      thresholds !== undefined ||
      (view.kind === "table" && view.columns.some((column) => column.thresholds !== undefined));
    expect(ALL.filter((each) => !panelsOf(each).some(isShown)).map(({ uid }) => uid)).toEqual([]);
    const lacking = PANELS.filter(
      ({ panel }) =>
        panel.view.kind === "series" &&
        ["percentunit", "celsius"].includes(panel.unit) &&
        panel.thresholds === undefined,
    );
    expect(lacking.map(named)).toEqual([]);
  });

  it("are the numbers of the alerts, as they are configured", () => {
    const from = (options: Partial<typeof DEFAULT_DASHBOARD_OPTIONS>): number | undefined => {
      const all = dashboards({ ...DEFAULT_DASHBOARD_OPTIONS, ...options });
      return (panelOf(all, "Memory in use", UIDS.gpu).thresholds![1] as { from: number }).from;
    };
    expect(from({})).toBe(0.9);
    expect(from({ alerts: { HighGPUMemoryUsage: { parameters: { threshold: 0.95 } } } })).toBe(0.95);
  });

  it("are lines in panels over time", () => {
    const gpu = dashboardOf(
      ALL.find(({ uid }) => uid === UIDS.gpu)!,
      "http://127.0.0.1:8080",
    );
    const panels = (gpu.panels ?? []) as readonly {
      readonly title?: string;
      readonly fieldConfig?: { readonly defaults: { readonly custom?: object; readonly thresholds?: object } };
    }[];
    const { defaults } = panels.find(({ title }) => title === "Memory in use")!.fieldConfig!;
    expect(defaults.custom).toMatchObject({ thresholdsStyle: { mode: "dashed" } });
    expect(defaults.thresholds).toMatchObject({
      steps: [
        { value: null, color: "green" },
        { value: 0.9, color: "orange" },
      ],
    });
  });
});

it("a panel's description and its empty text name the level that it needs", () => {
  const [fleet] = ALL.map((each) => dashboardOf(each, "http://127.0.0.1:8080"));
  const panels = (fleet!.panels ?? []) as readonly {
    readonly title?: string;
    readonly description?: string;
    readonly fieldConfig?: { readonly defaults: { readonly noValue?: string } };
  }[];
  const waiting = panels.find(({ title }) => title === "Waiting")!;
  expect(waiting.description).toContain(`Needs level C: ${LEVELS.C}.`);
  expect(waiting.fieldConfig!.defaults.noValue).toBe(`No pod waits for GPUs. It needs level C: ${LEVELS.C}.`);
});
