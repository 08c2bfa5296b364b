import type { AlertDefinition, AlertGroup, Subject } from "./catalog/definition.ts";
import type { AlertOptions } from "./options.ts";

/** The labels of alerts by their names in addresses. The cluster's label has its name from the options. */
const LABELS = {
  cluster: "",
  node: "node",
  uuid: "UUID",
  namespace: "namespace",
  pod: "pod",
  workload: "workload",
  team: "team",
} as const;
type Parameter = keyof typeof LABELS;

/** A page or a dashboard, and the labels that choose what it shows. */
interface Place {
  readonly path: string;
  readonly of: readonly Parameter[];
}

/** The pages of gpu-ledger's server. Those with a cluster are live. */
const PAGES: Readonly<Record<Subject, Place>> = {
  gpu: { path: "/gpu", of: ["cluster", "uuid"] },
  pod: { path: "/workload", of: ["cluster", "namespace", "pod"] },
  node: { path: "/node", of: ["cluster", "node"] },
  exporter: { path: "/node", of: ["cluster", "node"] },
  team: { path: "/team", of: ["team"] },
  pipeline: { path: "/quality", of: [] },
};

/** The dashboards of Grafana (`dashboards/links.ts`), for a subject or for all alerts of a group. */
const DASHBOARDS: Readonly<Record<Subject, Place>> & Readonly<Partial<Record<AlertGroup, Place>>> = {
  gpu: { path: "gpu", of: ["cluster", "node", "uuid"] },
  pod: { path: "workload", of: ["cluster", "namespace", "workload"] },
  node: { path: "gpu", of: ["cluster", "node"] },
  exporter: { path: "gpu", of: ["cluster", "node"] },
  team: { path: "teams", of: ["team"] },
  queue: { path: "queue", of: ["cluster"] },
  serving: { path: "serving", of: ["cluster"] },
  pipeline: { path: "pipeline", of: [] },
};

/** The names that a runbook's commands need. */
const NAMED: Readonly<Record<Subject, readonly Parameter[]>> = {
  gpu: ["cluster", "node", "uuid"],
  pod: ["cluster", "node", "namespace", "pod", "team"],
  node: ["cluster", "node"],
  exporter: ["cluster", "node", "namespace", "pod"],
  team: ["cluster", "namespace", "workload", "team"],
  pipeline: [],
};

/**
 * Returns the annotations with links, as templates of Prometheus: the page of the subject, the runbook with the names of the alert, and the
 * dashboard. They have no time: messages add the time of the alert (`alertmanager/templates.ts`).
 */
export function linksOf(
  { name, subject, group }: AlertDefinition,
  options: AlertOptions,
): Readonly<Record<string, string>> {
  const { server, grafana } = options;
  const { path, of } = PAGES[subject];
  const dashboard = DASHBOARDS[group as keyof typeof DASHBOARDS] ?? DASHBOARDS[subject];
  return {
    ...(server === undefined
      ? {}
      : {
          page: `${server}${path}${addressed(options, of, "")}`,
          runbook: `${server}/runbook?alert=${name}${NAMED[subject].map((each) => given(options, each)).join("")}`,
        }),
    ...(grafana === undefined
      ? {}
      : { dashboard: `${grafana}/d/gpu-ledger-${dashboard.path}${addressed(options, dashboard.of, "var-")}` }),
  };
}

/** Returns the parameters of an address with the values of labels, empty ones too: a Prometheus without clusters has one. */
function addressed(options: AlertOptions, of: readonly Parameter[], prefix: string): string {
  const parts = of.map((each) => `${prefix}${nameIn(prefix, each)}={{ $labels.${labelOf(options, each)} | urlquery }}`);
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

/** Returns a parameter that is left out where the alert does not have the label. */
function given(options: AlertOptions, parameter: Parameter): string {
  return `{{ with $labels.${labelOf(options, parameter)} }}&${parameter}={{ . | urlquery }}{{ end }}`;
}

/** A dashboard's variable with a GPU has another name. */
function nameIn(prefix: string, parameter: Parameter): string {
  return prefix !== "" && parameter === "uuid" ? "gpu" : parameter;
}

function labelOf({ clusterLabel }: AlertOptions, parameter: Parameter): string {
  return parameter === "cluster" ? clusterLabel : LABELS[parameter];
}
