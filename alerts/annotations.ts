import type { AlertDefinition, Subject } from "./catalog/definition.ts";
import type { AlertOptions } from "./options.ts";
import { linksOf } from "./links.ts";
import { OWNER_LABELS } from "./recording/workloads.ts";

/**
 * Returns an alert's annotations. Labels identify the subject and stay the same while the alert fires. The current holder, its properties
 * and its cost change, so they are looked up here.
 */
export function annotationsOf(definition: AlertDefinition, options: AlertOptions): Readonly<Record<string, string>> {
  const { name, summary, description, subject, group } = definition;
  const annotations: Record<string, string> = {
    summary,
    description: `${WHERE[subject](options)}${description}`,
    runbook_url: `${options.runbooks}/${name}.md`,
  };
  if (subject === "gpu") {
    annotations["gpu"] = lookUp(
      options,
      "gpu:exporter_gpu:info",
      ["node", "UUID"],
      "{{ .Labels.gpu }} ({{ .Labels.modelName }})",
    );
    annotations["held_by"] = holdersText(options);
  }
  if (options.money && (subject === "pod" || subject === "team") && group === "waste") {
    annotations["cost_per_hour"] = subject === "pod" ? podCost(options) : teamCost();
  }
  return { ...annotations, ...linksOf(definition, options) };
}

const onCluster = ({ clusterLabel }: AlertOptions): string =>
  `{{ if $labels.${clusterLabel} }} in cluster {{ $labels.${clusterLabel} }}{{ end }}`;

/** The beginning of a description, with the node and the GPU. */
const WHERE: Readonly<Record<Subject, (options: AlertOptions) => string>> = {
  gpu: (options) =>
    `GPU {{ $labels.UUID }}{{ if $labels.GPU_I_ID }}, instance {{ $labels.GPU_I_ID }},{{ end }} of node {{ $labels.node }}${onCluster(options)}: `,
  pod: (options) => `{{ if $labels.${options.clusterLabel} }}Cluster {{ $labels.${options.clusterLabel} }}: {{ end }}`,
  node: (options) => `{{ if $labels.${options.clusterLabel} }}Cluster {{ $labels.${options.clusterLabel} }}: {{ end }}`,
  team: () => "",
  exporter: () => "",
  pipeline: () => "",
};

function holdersText(options: AlertOptions): string {
  const pods = selectorText(options, "gpu:device_holder:info", ["node", "UUID"]);
  const on = `${options.clusterLabel}, namespace, pod`;
  const joined = `max by (${on}, ${OWNER_LABELS.join(", ")}) (X * on (${on}) group_left (${OWNER_LABELS.join(", ")}) gpu:workload:info or on (${on}) X)`;
  const text = joined.replaceAll("X", pods.format);
  const args = `${pods.labels} ${pods.labels}`;
  return `{{ range query (printf ${quoted(text)} ${args}) | sortByLabel "pod" }}{{ .Labels.namespace }}/{{ .Labels.pod }}{{ if .Labels.team }} of team {{ .Labels.team }}{{ end }} {{ end }}`;
}

function podCost(options: AlertOptions): string {
  const { format, labels } = selectorText(options, "pod:gpu_cost_per_hour:sum", ["namespace", "pod"]);
  return costText(format, labels);
}

function teamCost(): string {
  return costText("max by (currency) (gpu_ledger_team_cost_per_hour{team=%q})", "$labels.team");
}

function costText(query: string, labels: string): string {
  return `{{ range query (printf ${quoted(query)} ${labels}) }}{{ printf "%.2f" .Value }}{{ if .Labels.currency }} {{ .Labels.currency }}{{ end }}{{ end }}`;
}

function lookUp(options: AlertOptions, series: string, by: readonly string[], show: string): string {
  const { format, labels } = selectorText(options, series, by);
  return `{{ with query (printf ${quoted(format)} ${labels}) }}{{ with first . }}${show}{{ end }}{{ end }}`;
}

/** Returns a selector of the alert's own cluster and labels: the text for `printf`, and the values of its placeholders. */
function selectorText(
  options: AlertOptions,
  series: string,
  by: readonly string[],
): { format: string; labels: string } {
  const names = [options.clusterLabel, ...by];
  return {
    format: `${series}{${names.map((name) => `${name}=%q`).join(", ")}}`,
    labels: names.map((name) => `$labels.${name}`).join(" "),
  };
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
