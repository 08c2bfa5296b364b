import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ALERT_NAMES, CATALOG } from "../../../alerts/catalog/catalog.ts";
import { ruleGroups } from "../../../alerts/generate.ts";
import type { AlertingRule, RecordingRule, RuleGroup } from "../../../alerts/model.ts";
import { DEFAULT_ALERT_OPTIONS, type AlertOptions } from "../../../alerts/options.ts";
import { everyExporterName } from "../../../alerts/series/exporter-names.ts";
import { dashboards } from "../../../dashboards/files.ts";
import { DEFAULT_DASHBOARD_OPTIONS } from "../../../dashboards/options.ts";
import { OWN_SERIES } from "../../../alerts/series/own.ts";
import { STATE_SERIES } from "../../../alerts/series/state.ts";
import { portOf } from "../../../reports/server/route-table.ts";
import { METRIC_DEFINITIONS } from "../../../runtime/telemetry/metrics.ts";
import { CASES } from "../../support/rules/cases/all.ts";
import { readsOf } from "../../support/rules/promql-names.ts";

const options = (more: Partial<AlertOptions>): AlertOptions => ({ ...DEFAULT_ALERT_OPTIONS, ...more });
const GROUPS = ruleGroups(DEFAULT_ALERT_OPTIONS);
const recordings = (groups: readonly RuleGroup[]): readonly RecordingRule[] =>
  groups.flatMap((group) => group.rules.flatMap((rule) => ("record" in rule ? [rule] : [])));
const alerts = (groups: readonly RuleGroup[]): readonly AlertingRule[] =>
  groups.flatMap((group) => group.rules.flatMap((rule) => ("alert" in rule ? [rule] : [])));
const alertNamed = (groups: readonly RuleGroup[], name: string): readonly AlertingRule[] =>
  alerts(groups).filter(({ alert }) => alert === name);

const EXPORTERS = everyExporterName();
const RECORDED = new Set(recordings(GROUPS).map(({ record }) => record));
const OWN_METRICS = new Set(
  Object.values(METRIC_DEFINITIONS).flatMap(({ name, type }) => (type === "histogram" ? [`${name}_bucket`] : [name])),
);
/** A count of a range, compared with a number or divided by it. */
const COUNTED = /count_over_time\(([\w:]+)(\{[^}]*\})?\[(\w+)(?::(\w+))?\]\)+ (?:>=|<|\/) (\d+)/g;
const UNIT_MILLIS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const millisOf = (text: string): number => Number(text.slice(0, -1)) * UNIT_MILLIS[text.at(-1)!]!;
const words = (text: string): readonly string[] => text.split(" ");
/** Labels of exporters' pages and targets that rules read, and labels that rules add. */
const LABELS = new Set([
  ...words("cluster node UUID GPU_I_ID gpu modelName instance job namespace pod"),
  ...words("exported_pod exported_namespace exported_cluster pod_name vgpu xid clock_event health_watch"),
  ...words("code source limit reason view le outcome scrape_job kind cost model"),
  ...words("gpu_id GPU_ID gpu_partition_id uuid gpu_uuid GPU_UUID Hostname hostname HOSTNAME pod_namespace"),
  ...words("card_series CARD_SERIES card_model"),
  ...Object.values(OWN_SERIES).flat(),
  ...Object.values(STATE_SERIES).flat(),
  ...recordings(GROUPS).flatMap(({ labels = {} }) => Object.keys(labels)),
]);

describe("the rules", () => {
  it("read only series of exporters, kube-state-metrics, our own programs and other rules", () => {
    const known = new Set([
      ...EXPORTERS,
      ...RECORDED,
      ...OWN_METRICS,
      ...Object.keys(STATE_SERIES),
      ...Object.keys(OWN_SERIES),
      "up",
    ]);
    const unknown = [...recordings(GROUPS), ...alerts(GROUPS)].flatMap(({ expr }) =>
      [...readsOf(expr).series].filter((name) => !known.has(name)),
    );
    expect(unknown).toEqual([]);
  });

  it("use only labels that a series has", () => {
    const unknown = [...recordings(GROUPS), ...alerts(GROUPS)].flatMap(({ expr }) =>
      [...readsOf(expr).labels].filter((label) => !LABELS.has(label) && !label.startsWith("label_")),
    );
    expect(unknown).toEqual([]);
  });

  it("use the exporters' names only in recording rules: no alert reads one", () => {
    const direct = alerts(GROUPS).filter(({ expr }) => [...readsOf(expr).series].some((name) => EXPORTERS.has(name)));
    expect(direct.map(({ alert }) => alert)).toEqual([]);
  });

  it("record only series that a rule, an annotation, a dashboard or an example of autoscaling reads", () => {
    const texts = [
      ...[...recordings(GROUPS), ...alerts(GROUPS)].flatMap((rule) =>
        "alert" in rule ? [rule.expr, ...Object.values(rule.annotations)] : [rule.expr],
      ),
      JSON.stringify(dashboards(DEFAULT_DASHBOARD_OPTIONS)),
      readFileSync("docs/serving.md", "utf8"),
    ];
    const unread = [...RECORDED].filter(
      (name) => !texts.some((text) => new RegExp(`(?<![\\w:])${name}(?![\\w:])`).test(text)),
    );
    expect(unread).toEqual([]);
  });

  it("have the interval of each group, and the quick groups have the configured one", () => {
    const quick = ruleGroups(options({ intervalMillis: 120_000 }));
    expect(GROUPS.map(({ intervalMillis }) => intervalMillis).toSorted((a, b) => a - b)[0]).toBe(30_000);
    expect(quick.every(({ intervalMillis }) => intervalMillis >= 120_000)).toBe(true);
  });

  it("use no window with more samples than its series has at its interval", () => {
    const paces = GROUPS.flatMap(({ intervalMillis, rules }) =>
      rules.flatMap((rule) => ("record" in rule ? [{ ...rule, intervalMillis }] : [])),
    );
    /** The interval of the rule with the matched labels, or otherwise of the rule without them. */
    const paceOf = (name: string, matchers: string): number =>
      paces
        .filter(({ record, labels = {} }) => {
          const asked = Object.entries(labels).every(([label, value]) => matchers.includes(`${label}="${value}"`));
          return record === name && asked;
        })
        .toSorted((a, b) => Object.keys(b.labels ?? {}).length - Object.keys(a.labels ?? {}).length)[0]!.intervalMillis;
    const windows = [...recordings(GROUPS), ...alerts(GROUPS)].flatMap(({ expr }) =>
      [...expr.matchAll(COUNTED)].map(([text, name, matchers, range, step, least]) => ({
        text,
        least: Number(least),
        most: millisOf(range!) / (step === undefined ? paceOf(name!, matchers ?? "") : millisOf(step)),
      })),
    );
    expect(windows.length).toBeGreaterThan(8);
    expect(windows.filter(({ least, most }) => least > most).map(({ text }) => text)).toEqual([]);
  });

  it("count samples by the interval: an hour at one minute has 60", () => {
    const text = JSON.stringify(ruleGroups(options({ intervalMillis: 60_000 })));
    expect(text).toContain("count_over_time(gpu:device_activity:ratio[1h]) >= 54)");
    expect(JSON.stringify(GROUPS)).toContain("count_over_time(gpu:device_activity:ratio[1h]) >= 108)");
  });
});

describe("the catalog", () => {
  it("has every alert of its kind once, and each severity of an alert at most once", () => {
    const kinds = CATALOG.map(({ name, severity }) => `${name} ${severity}`);
    expect(new Set(kinds).size).toBe(kinds.length);
  });

  it("has the seed rules with their exact thresholds and durations; those that are no faults are information", () => {
    const seed = (name: string) =>
      alertNamed(GROUPS, name).map(({ expr, forMillis, labels }) => ({
        expr,
        forMillis,
        severity: labels["severity"],
      }))[0]!;
    expect(seed("HighGPUMemoryUsage")).toEqual({
      expr: "gpu:memory_used:ratio > 0.9",
      forMillis: 300_000,
      severity: "info",
    });
    expect(seed("HighGPUTemperature").expr).toContain("gpu:temperature:celsius > 85 ");
    expect(seed("HighGPUTemperature")).toMatchObject({ forMillis: 300_000, severity: "warning" });
    expect(seed("LowGPUUtilization").expr).toContain("gpu:device_activity:avg1h < 0.2)");
    expect(seed("LowGPUUtilization")).toMatchObject({ forMillis: 7_200_000, severity: "info" });
    expect(seed("GPUPodLowUtilization").expr).toContain("pod:gpu_activity:avg1h < 0.4\n");
    expect(seed("GPUPodLowUtilization").expr).toContain("(time() - pod:gpu_start:timestamp > 3600)");
    expect(seed("GPUPodLowUtilization")).toMatchObject({ severity: "info" });
  });

  it("has for each alert a case in which it is silent and one in which it fires", () => {
    const asked = CASES.flatMap(({ expect: all }) => all.flatMap((each) => ("alert" in each ? [each] : [])));
    const missing = ALERT_NAMES.flatMap((name) => [
      ...(asked.some(({ alert, firing }) => alert === name && firing.length === 0) ? [] : [`${name} silent`]),
      ...(asked.some(({ alert, firing }) => alert === name && firing.length > 0) ? [] : [`${name} firing`]),
    ]);
    expect(missing).toEqual([]);
  });

  it("has a runbook for each alert, and no other runbooks", () => {
    const files = readdirSync("docs/runbooks").filter((name) => name !== "README.md");
    expect(files.toSorted()).toEqual([...ALERT_NAMES, "GPULedgerWatchdog"].map((name) => `${name}.md`).toSorted());
    const sections = ["## Meaning", "## Impact", "## Diagnosis", "## Mitigation", "## False positives"];
    const incomplete = files.filter((name) => {
      const text = readFileSync(`docs/runbooks/${name}`, "utf8");
      return (
        !text.startsWith(`# ${name.replace(".md", "")}\n`) || !sections.every((each) => text.includes(`\n${each}\n`))
      );
    });
    expect(incomplete).toEqual([]);
  });

  it("sends info alerts to no receiver, and pages only for critical alerts", () => {
    expect(CATALOG.filter(({ severity, notify }) => severity === "info" && notify !== "none")).toEqual([]);
    expect(CATALOG.filter(({ severity, notify }) => severity !== "critical" && notify === "page")).toEqual([]);
  });
});

describe("options", () => {
  it("change numbers, durations and severities, leave alerts out, and select groups", () => {
    const changed = ruleGroups(
      options({
        only: ["thermal", "memory"],
        alerts: {
          HighGPUTemperature: {
            parameters: { threshold: 80 },
            forMillis: 600_000,
            severity: "critical",
            notify: "page",
          },
          GPUPowerBrake: { parameters: {}, enabled: false },
        },
      }),
    );
    const [rule] = alertNamed(changed, "HighGPUTemperature");
    expect(rule).toMatchObject({ forMillis: 600_000, labels: { severity: "critical", notify: "page" } });
    expect(rule!.expr).toContain("gpu:temperature:celsius > 80 ");
    expect(alertNamed(changed, "GPUPowerBrake")).toEqual([]);
    expect(new Set(alerts(changed).map(({ labels }) => labels["gpu_topic"]))).toEqual(new Set(["memory", "thermal"]));
  });

  it("make a ticket again of an alert that is only shown by default", () => {
    const ticket = { severity: "warning", notify: "ticket" } as const;
    for (const name of ["HighGPUMemoryUsage", "LowGPUUtilization", "GPUPodLowUtilization"]) {
      const changed = ruleGroups(options({ alerts: { [name]: { parameters: {}, ...ticket } } }));
      expect(alertNamed(changed, name)[0]!.labels).toMatchObject(ticket);
    }
  });

  it("give a team its own numbers and keep the others' numbers", () => {
    const rules = alertNamed(
      ruleGroups(
        options({
          teams: {
            'a.b"c': { GPUPodLowUtilization: { parameters: { threshold: 0.1 }, forMillis: 0 } },
            quiet: { GPUPodLowUtilization: { parameters: {}, enabled: false } },
          },
        }),
      ),
      "GPUPodLowUtilization",
    );
    expect(rules.map(({ forMillis, labels }) => [forMillis, labels["team"]])).toEqual([
      [600_000, undefined],
      [0, 'a.b"c'],
    ]);
    expect(rules[0]!.expr).toContain(
      String.raw`unless on (cluster, namespace, pod) gpu:workload:info{team=~"a\\.b\"c|quiet"}`,
    );
    expect(rules[1]!.expr).toContain(String.raw`and on (cluster, namespace, pod) gpu:workload:info{team="a.b\"c"}`);
    expect(rules[1]!.expr).toContain("< 0.1");
  });

  it("find the teams of an alert about all clusters by its own series", () => {
    const teams = { vision: { TeamAdviceSavingsHigh: { parameters: { saving: 50 } } } };
    const [others, own] = alertNamed(ruleGroups(options({ teams })), "TeamAdviceSavingsHigh");
    const series = (matcher: string): string => `max_over_time(gpu_ledger_advice_saving_per_month{${matcher}}[15m])`;
    expect(others!.expr).toMatch(/> 1000\) unless on \(team\) /);
    expect(others!.expr.endsWith(series('team=~"vision"'))).toBe(true);
    expect(own!.expr).toContain(`> 50) and on (team) ${series('team="vision"')}`);
  });

  it("rename alerts and groups by a prefix, and add labels and a watchdog", () => {
    const groups = ruleGroups(options({ prefix: "Acme", labels: { tier: "gpu" }, watchdog: true }));
    expect(alerts(groups).every(({ alert, labels }) => alert.startsWith("Acme") && labels["tier"] === "gpu")).toBe(
      true,
    );
    expect(groups.every(({ name }) => name.startsWith("Acmegpu-ledger."))).toBe(true);
    expect(alertNamed(groups, "AcmeGPULedgerWatchdog")).toHaveLength(1);
    expect(alertNamed(GROUPS, "GPULedgerWatchdog")).toEqual([]);
  });

  it("add links only if there is a server, and money only if it is configured", () => {
    const [plain] = alertNamed(GROUPS, "GPUAllocatedIdle");
    const [other] = alertNamed(
      ruleGroups(options({ server: "https://gl.example.com", money: false })),
      "GPUAllocatedIdle",
    );
    expect(plain!.annotations).toHaveProperty("cost_per_hour");
    expect(plain!.annotations).not.toHaveProperty("page");
    expect(other!.annotations).not.toHaveProperty("cost_per_hour");
    expect(other!.annotations["page"]).toMatch(
      /^https:\/\/gl\.example\.com\/workload\?cluster=\{\{ \$labels\.cluster \| urlquery \}\}&namespace=/,
    );
  });

  it("give every alert a page of the server, a runbook with its names, and a dashboard with variables that it has", () => {
    const groups = ruleGroups(options({ server: "https://gl.example.com", grafana: "https://grafana.example.com" }));
    const pages = portOf("server").routes;
    for (const { alert, annotations } of alerts(groups)) {
      const [, path] = /^https:\/\/gl\.example\.com(\/\w+)(\?|$)/.exec(annotations["page"]!)!;
      expect(pages).toHaveProperty([`GET ${path}`]);
      expect(annotations["runbook"]!.startsWith(`https://gl.example.com/runbook?alert=${alert}`)).toBe(true);
      const [, uid] = /^https:\/\/grafana\.example\.com\/d\/([\w-]+)(\?|$)/.exec(annotations["dashboard"]!)!;
      const { variables } = dashboards(DEFAULT_DASHBOARD_OPTIONS).find((each) => each.uid === uid)!;
      const set = [...annotations["dashboard"]!.matchAll(/var-(\w+)=/g)].map(([, name]) => name!);
      expect(set.filter((name) => !variables.some((each) => each.name === name))).toEqual([]);
    }
  });

  it("use the configured name of the cluster's label", () => {
    const groups = ruleGroups(options({ clusterLabel: "k8s_cluster" }));
    // Our own programs name a cluster by a label of their own.
    const others = [
      ...recordings(groups),
      ...alerts(groups).filter(({ labels }) => !["pipeline", "serving"].includes(labels["gpu_topic"]!)),
    ];
    expect(others.filter(({ expr }) => readsOf(expr).labels.has("cluster"))).toEqual([]);
    expect(recordings(groups).find(({ record }) => record === "pod:processor_owner:info")!.expr).toContain(
      '"k8s_cluster", "$1", "cluster"',
    );
  });
});
