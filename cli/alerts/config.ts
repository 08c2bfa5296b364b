import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { ALERT_GROUPS, type AlertDefinition, type Parameter } from "../../alerts/catalog/definition.ts";
import { CATALOG } from "../../alerts/catalog/catalog.ts";
import { NOTIFIES, SEVERITIES } from "../../alerts/model.ts";
import { DEFAULT_ALERT_OPTIONS, type AlertOptions, type AlertOverride } from "../../alerts/options.ts";
import { ConfigError } from "../../runtime/config/config-error.ts";
import { duration } from "../../runtime/config/quantity.ts";
import { flag, isWebAddress, list, oneOf, text, webAddress } from "../../runtime/config/words.ts";
import { readYaml } from "../../runtime/config/yaml.ts";
import { contactsSchema } from "./contacts.ts";

const DEFAULTS = DEFAULT_ALERT_OPTIONS;
const matchers = z
  .string({ error: 'matchers of PromQL, such as job="x"' })
  .regex(/^(\s*[A-Za-z_]\w*\s*(=~|!~|!=|=)\s*"([^"\\]|\\.)*"\s*,?)*$/, {
    error: 'matchers of PromQL, such as job="x"',
  });
const labelName = z
  .string({ error: "a label of Prometheus" })
  .regex(/^[A-Za-z_]\w*$/, { error: "a label of Prometheus" });
const pattern = text("a regular expression").refine(isPattern, { error: "a regular expression" });

function isPattern(value: string): boolean {
  try {
    new RegExp(value, "u");
    return true;
  } catch {
    return false;
  }
}

/** Returns the schema of an alert's number, within its range. */
function numberOf({ least, most, help, value }: Parameter): z.ZodType<number | undefined> {
  const allowed = `a number from ${least} to ${most}: ${help}`;
  return z
    .number({ error: allowed })
    .min(least, { error: allowed })
    .max(most, { error: allowed })
    .optional()
    .describe(`${help}; ${value} by default.`);
}

function parametersOf(name: string): Readonly<Record<string, Parameter>> {
  const variants = CATALOG.filter((each) => each.name === name);
  return Object.assign({}, ...variants.map(({ parameters = {} }) => parameters)) as Record<string, Parameter>;
}

const forOf = duration("0s", "7d").optional().describe("How long the condition must hold before the alert fires.");

/**
 * Returns the schema of the changes to an alert. Some alerts are in the catalog once for each severity. The severity of these cannot be
 * changed.
 */
function overrideSchema(definitions: readonly AlertDefinition[]) {
  const { name } = definitions[0]!;
  const numbers = Object.entries(parametersOf(name)).map(([key, parameter]) => [key, numberOf(parameter)] as const);
  const isOne = definitions.length === 1;
  return z.strictObject({
    ...Object.fromEntries(numbers),
    for: forOf,
    enabled: flag.optional(),
    ...(isOne ? { severity: oneOf(...SEVERITIES).optional(), notify: oneOf(...NOTIFIES).optional() } : {}),
  });
}

function teamOverrideSchema(name: string) {
  const numbers = Object.entries(parametersOf(name)).map(([key, parameter]) => [key, numberOf(parameter)] as const);
  return z.strictObject({ ...Object.fromEntries(numbers), for: forOf, enabled: flag.optional() });
}

const NAMES = [...new Set(CATALOG.map(({ name }) => name))];
const ofAlerts = z.strictObject(
  Object.fromEntries(
    NAMES.map((name) => [name, overrideSchema(CATALOG.filter((each) => each.name === name)).optional()]),
  ),
);
/** Alerts with a known team: those about pods and those about teams. */
const OF_TEAMS = new Set(
  CATALOG.filter(({ subject }) => subject === "pod" || subject === "team").map(({ name }) => name),
);
const ofTeam = z.strictObject(
  Object.fromEntries([...OF_TEAMS].map((name) => [name, teamOverrideSchema(name).optional()])),
);

/** The addresses of `gpu-ledger up` and of the Grafana of docker-compose.yml. */
const [UP, GRAFANA] = ["http://127.0.0.1:8080", "http://127.0.0.1:3000"];
const NONE = "none";
const LINKED = "an http:// or https:// address, or none";

/** Returns the schema of an address for links, or of the word for no links. */
function linked(address: string) {
  return z
    .string({ error: LINKED })
    .refine((value) => value === NONE || isWebAddress(value), { error: LINKED })
    .default(address);
}

function addressOf(value: string): string | undefined {
  return value === NONE ? undefined : value.replace(/\/$/, "");
}

/** The configuration of the alerts' generator. */
export const alertConfigSchema = z.strictObject({
  interval: duration("5s", "5m").prefault("30s").describe("How often the quick rules are evaluated."),
  clusterLabel: labelName
    .default(DEFAULTS.clusterLabel)
    .describe("The label with the name of the cluster, if there is one."),
  nodeLabels: list(labelName)
    .default([...DEFAULTS.nodeLabels])
    .describe("Labels with the node of an exporter. The first label that exists is used."),
  selectors: z
    .strictObject({
      series: matchers
        .default(DEFAULTS.selectors.series)
        .describe('Matchers for the series of exporters, such as env="prod".'),
      exporters: matchers
        .default(DEFAULTS.selectors.exporters)
        .describe("Matchers for the series `up` of exporters' targets."),
      kubeStateMetrics: matchers
        .default(DEFAULTS.selectors.kubeStateMetrics)
        .describe("Matchers for the series of kube-state-metrics."),
      ledger: matchers.default(DEFAULTS.selectors.ledger).describe("Matchers for the targets of gpu-ledger."),
    })
    .prefault({}),
  exporterPods: pattern
    .default(DEFAULTS.exporterPods)
    .describe("The pods of the exporters. They hold no GPU, even if honored labels name them."),
  optOut: z
    .strictObject({
      label: text("a label of Kubernetes").default(DEFAULTS.optOut.label),
      value: text("a value").default(DEFAULTS.optOut.value),
    })
    .prefault({})
    .describe("Alerts about waste ignore pods and namespaces with this label."),
  ownerLabels: z
    .strictObject({
      team: text("a label of Kubernetes").default(DEFAULTS.ownerLabels.team),
      costCenter: text("a label of Kubernetes").default(DEFAULTS.ownerLabels.costCenter),
    })
    .prefault({})
    .describe(
      "The labels of kube-state-metrics with the owner of a pod, for clusters without a processor of gpu-ledger.",
    ),
  runbooks: webAddress.default(DEFAULTS.runbooks).describe("The address of docs/runbooks, for links to them."),
  server: linked(UP).describe(
    "The address of gpu-ledger's pages, for links to them; none for alerts without such links.",
  ),
  grafana: linked(GRAFANA).describe(
    "The address of the Grafana with our dashboards; none for alerts without such links.",
  ),
  money: flag.default(DEFAULTS.money).describe("Whether alerts contain the cost of an hour of waste."),
  prefix: z
    .string({ error: "letters, digits and underscores" })
    .regex(/^\w*$/, { error: "letters, digits and underscores" })
    .default(DEFAULTS.prefix)
    .describe("A prefix for the names of all alerts and groups."),
  labels: z.record(labelName, z.string()).default({}).describe("Labels for every alert."),
  watchdog: flag.default(DEFAULTS.watchdog).describe("Whether to add an alert that always fires."),
  groups: list(oneOf(...ALERT_GROUPS))
    .optional()
    .describe(`The groups of alerts to write (default: all): ${ALERT_GROUPS.join(", ")}.`),
  alerts: ofAlerts.default({}).describe("Thresholds, durations and severities of single alerts."),
  teams: z
    .record(text("a team"), ofTeam)
    .default({})
    .describe("Thresholds and durations of single alerts for single teams."),
  ...contactsSchema,
});

/** The parsed configuration. */
export type AlertConfig = z.output<typeof alertConfigSchema>;

/** Reads the configuration of the alerts, or returns the defaults. Fails with a ConfigError that contains all errors. */
export function loadAlertConfig(
  path: string | undefined,
  env: NodeJS.ProcessEnv,
): { config: AlertConfig; folder: string } {
  if (path === undefined) return { config: alertConfigSchema.parse({}), folder: "." };
  let source: string;
  try {
    source = readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(path, [{ key: "--config", value: path, allowed: `a file that can be read (${why})` }]);
  }
  const read = readYaml(source, alertConfigSchema, {
    env,
    keys: "config/alerts.example.yaml has every key",
  });
  if ("problems" in read) throw new ConfigError(path, read.problems);
  return { config: read.value, folder: resolve(dirname(path)) };
}

/** Returns the generator's options of a configuration. */
export function alertOptionsOf(config: AlertConfig): AlertOptions {
  const { interval, groups, alerts, teams, ...rest } = config;
  return {
    ...rest,
    server: addressOf(rest.server),
    grafana: addressOf(rest.grafana),
    runbooks: rest.runbooks.replace(/\/$/, ""),
    intervalMillis: interval,
    only: groups,
    alerts: overridesOf(alerts),
    teams: Object.fromEntries(Object.entries(teams).map(([team, of]) => [team, overridesOf(of)])),
  };
}

type Given = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

function overridesOf(given: Given): Readonly<Record<string, AlertOverride>> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, override]) => (override === undefined ? [] : [[name, overrideOf(override)]])),
  );
}

function overrideOf({
  for: forMillis,
  enabled,
  severity,
  notify,
  ...numbers
}: Readonly<Record<string, unknown>>): AlertOverride {
  const parameters = Object.entries(numbers).filter((entry): entry is [string, number] => typeof entry[1] === "number");
  return {
    parameters: Object.fromEntries(parameters),
    forMillis: forMillis as number | undefined,
    enabled: enabled as boolean | undefined,
    severity: severity as AlertOverride["severity"],
    notify: notify as AlertOverride["notify"],
  };
}

/** Returns a JSON Schema (draft 2020-12) of the alerts' configuration, for editors. */
export function alertConfigJsonSchema(): object {
  const schema = z.toJSONSchema(alertConfigSchema, { io: "input", unrepresentable: "any" });
  return { title: "The configuration of gpu-ledger's alerts", ...schema };
}
