import { CATALOG } from "../catalog/catalog.ts";
import { ALERT_GROUPS, type AlertDefinition, type AlertSource } from "../catalog/definition.ts";
import { counterOf } from "../exporter/counters.ts";
import { durationText } from "../promql.ts";

const INTRODUCTION = `# Alerts

\`gpu-ledger generate alerts\` writes Prometheus' rules from one configuration: [config/alerts.example.yaml](../config/alerts.example.yaml)
has every key with its default value, [deploy/prometheus](../deploy/prometheus) the output for the defaults. Each name links to the runbook
of the alert.

- **Recording rules** convert the series of dcgm-exporter 1.x to 4.9 and of AMD's exporter (honored or exported labels, MIG, shared GPUs)
  into one set of series; alerts read only these series of exporters. \`gpu:device_activity:ratio\` is the activity of a GPU or MIG
  instance, \`gpu:pod_activity:ratio\` the activity of a pod on it.
- **severity** is the severity of the alert, which the list has with its \`for\`. **notify** is the way of notification: \`page\` (critical) is
  sent at any time, \`ticket\` (warning) in \`workingHours\` if they are configured, else at any time, \`none\` (info) not at all. **gpu_topic** is
  the group; Alertmanager's routes and inhibitions match our alerts by it.
- **One message for one subject**: pages are grouped by node or pod, tickets by alert, namespace and team. All waste of a team is one message,
  and a team gets at most one a day. [The trial](alerts-trial.md) counts the messages of a week.
- **Team, cost center and workload** are labels of alerts about pods. Alerts about GPUs have the current holder in \`held_by\`. They come
  from our processor, or else from kube-state-metrics with the labels that \`generate exporter-config\` allows there.
- **What is lost alerts at once**, for 10 minutes or longer: lost messages, scrapes that were not kept, dead letters and sums that are not exact.
  A trouble that ends by itself and loses nothing (a store, a bus or an API server that is away, an election) waits, so that a restart is silent.
- **Links.** Alerts have the page of their subject, the runbook with their names in its commands, and the dashboard, at \`server\` and
  \`grafana\` of the configuration. Messages of Alertmanager add the time of the alert, and a link that prepares a silence.
- **Counters** that an alert needs below are missing in dcgm-exporter's default (stock) file. \`gpu-ledger generate exporter-config --out DIR\` writes a
  file with all of them, and values for its charts; \`gpu-ledger check\`, and the collectors' metric \`gpu_ledger_alerts_lacking_counter\`, list
  the alerts that cannot work with an exporter, and the missing counters.
- **Other needs**: "pods named by the exporter" is an exporter with \`--kubernetes\`, for shared GPUs dcgm-exporter 4.8.2 or later with
  \`--kubernetes-virtual-gpus\`. "gpu-ledger" is a Prometheus that scrapes our collectors, processors and servers.

## Keys

\`alerts.NAME\` in the configuration has the keys of an alert: \`enabled\`, \`for\`, \`severity\`, \`notify\` and its thresholds, which its runbook
names with their defaults. \`teams.TEAM.NAME\` has \`enabled\`, \`for\` and the thresholds for the alerts of one team. With \`notify: ticket\` an
alert does not page, with \`none\` it has no ticket. A notification of an info alert needs \`severity: warning\` and \`notify: ticket\` together,
because some Alertmanagers inhibit every alert of severity info.

In runbooks, words in capitals such as NODE, UUID, POD and TEAM are labels of the alert. INDEX is from \`nvidia-smi -L\`, WATTS within the
limits of \`nvidia-smi -q -d POWER\`. If a node has no \`nvidia-smi\`, its driver is in a container: run \`chroot /run/nvidia/driver\` first.
`;

const TITLES: Readonly<Record<AlertDefinition["group"], string>> = {
  telemetry: "Telemetry of the fleet",
  xid: "XIDs",
  memory: "Memory and health",
  thermal: "Heat and power",
  links: "Links",
  waste: "Waste",
  queue: "Queue",
  serving: "Inference services",
  pipeline: "gpu-ledger itself",
};

const SOURCES: Readonly<Record<AlertSource, string>> = {
  pods: "pods named by the exporter",
  "kube-state-metrics": "kube-state-metrics",
  "gpu-ledger": "gpu-ledger",
};

const NOTES: Partial<Readonly<Record<AlertDefinition["group"], string>>> = {
  waste: `Alerts about a pod's activity read the largest of GR_ENGINE_ACTIVE, SM_ACTIVE and GPU_UTIL, on a shared GPU that of the pod's own processes
as a part of its share. Nine tenths of a window's samples must exist for each GPU. The label \`gpu-ledger/alerts: "off"\` on a pod or a
namespace excludes it, if kube-state-metrics exports that label (\`metricLabelsAllowlist\`). Inhibitions: GPUAllocatedIdle suppresses the
other alerts about its pod; LowGPUUtilization, where it is a ticket, suppresses GPUPodLowUtilization, GPUSustainedLowUtilization and
GPUPodPartiallyIdle. Both fire for four minutes after their condition has ended, so that the others end before them. A pod that works again
after an idle hour (\`pod:gpu_activity:resumed\`) has no alert about its average for an hour.\n\n`,
};

/** The way of notification that the page leaves out. */
const USUAL_NOTIFY: Readonly<Record<AlertDefinition["severity"], AlertDefinition["notify"]>> = {
  critical: "page",
  warning: "ticket",
  info: "none",
};

/** Returns the page with every alert: docs/alerts.md. */
export function renderAlertsPage(): string {
  const groups = ALERT_GROUPS.map((group) => {
    const alerts = CATALOG.filter((each) => each.group === group);
    const needs = new Set(alerts.map(needsOf));
    const [common = ""] = needs.size === 1 && alerts.length > 1 ? needs : [];
    const note = `${NOTES[group] ?? ""}${common === "" ? "" : `Each needs ${common}.\n\n`}`;
    return `## ${TITLES[group]}\n\n${note}${alerts.map((each) => line(each, common)).join("\n")}\n`;
  });
  return `${INTRODUCTION}\n${groups.join("\n")}`;
}

function needsOf({ counters = [], sources = [] }: AlertDefinition): string {
  const fields = counters.flatMap((any) => {
    const lacking = any.map(counterOf).filter(({ isStock }) => !isStock);
    return lacking.length < any.length ? [] : [lacking.map(({ field }) => `\`${field}\``).join(" or ")];
  });
  return [...fields, ...sources.map((source) => SOURCES[source])].join(", ");
}

function line(alert: AlertDefinition, common: string): string {
  const { name, summary, forMillis, severity, notify } = alert;
  const needs = needsOf(alert);
  const after = forMillis === 0 ? "at once" : durationText(forMillis);
  const sent = notify === USUAL_NOTIFY[severity] ? "" : `, ${notify}`;
  const what = `- [${name}](runbooks/${name}.md) (${severity}, ${after}${sent}): ${summary}`;
  return needs === common ? what : `${what} Needs ${needs}.`;
}
