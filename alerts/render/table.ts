import { CATALOG } from "../catalog/catalog.ts";
import { ALERT_GROUPS, type AlertDefinition, type AlertSource } from "../catalog/definition.ts";
import { counterOf } from "../exporter/counters.ts";
import { durationText } from "../promql.ts";

const INTRODUCTION = `# Alerts

\`gpu-ledger generate alerts\` writes Prometheus' rules from one configuration ([config/alerts.example.yaml](../config/alerts.example.yaml)
has every key, with what holds without it). What it writes without a configuration is in [deploy/prometheus](../deploy/prometheus).

- **Recording rules** fold every dialect (dcgm-exporter 1.x to 4.9 and AMD's exporter, honoured or exported labels, MIG, shared GPUs)
  into one set of series; the alerts read nothing else of exporters. \`gpu:device_activity:ratio\` is what a GPU or MIG instance
  does, \`gpu:pod_activity:ratio\` what a pod does on it.
- **severity** is how bad it is, **notify** who is told: \`page\` somebody at once, \`ticket\` in working hours, \`none\` nobody.
  **gpu_topic** is the group, by which Alertmanager's routes and inhibitions know our alerts.
- **Team, cost centre and workload** are labels of alerts about pods; alerts about GPUs say in \`held_by\` who holds it now. They come
  from our processor, else from kube-state-metrics with the labels that \`generate exporter-config\` allows there.
- **Opting out**: the label \`gpu-ledger/alerts: "off"\` on a pod or a namespace leaves it out of alerts about waste.
- **Counters** in the table are those that dcgm-exporter's stock file lacks. \`gpu-ledger generate exporter-config\` writes a file with
  all of them, and values for its charts; \`gpu-ledger check\`, and the collectors' metric \`gpu_ledger_alerts_lacking_counter\`, say which
  alerts can't work on which exporter, and what they lack.

Each name links to what to do when it fires.
`;

const TITLES: Readonly<Record<AlertDefinition["group"], string>> = {
  telemetry: "Is the fleet seen",
  xid: "XIDs",
  memory: "Memory and health",
  thermal: "Heat and power",
  links: "Links",
  waste: "Waste",
  queue: "The queue",
  pipeline: "gpu-ledger itself",
};

const SOURCES: Readonly<Record<AlertSource, string>> = {
  pods: "pods named by the exporter",
  "kube-state-metrics": "kube-state-metrics",
  "gpu-ledger": "gpu-ledger",
};

/** Returns the page with every alert: docs/alerts.md. */
export function renderAlertsPage(): string {
  const groups = ALERT_GROUPS.map((group) => {
    const rows = CATALOG.filter((each) => each.group === group).map(row);
    return `## ${TITLES[group]}\n\n| alert | what it says | for | severity | notify | needs |\n| --- | --- | --- | --- | --- | --- |\n${rows.join("\n")}\n`;
  });
  return `${INTRODUCTION}\n${groups.join("\n")}`;
}

function row({ name, summary, forMillis, severity, notify, counters = [], sources = [] }: AlertDefinition): string {
  const fields = counters.flatMap((any) => {
    const lacking = any.map(counterOf).filter(({ isStock }) => !isStock);
    return lacking.length < any.length ? [] : [lacking.map(({ field }) => `\`${field}\``).join(" or ")];
  });
  const needs = [...fields, ...sources.map((source) => SOURCES[source])].join(", ");
  const after = forMillis === 0 ? "at once" : durationText(forMillis);
  return `| [${name}](runbooks/${name}.md) | ${summary} | ${after} | ${severity} | ${notify} | ${needs} |`;
}
