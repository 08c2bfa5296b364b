import { annotationsOf } from "./annotations.ts";
import { CATALOG } from "./catalog/catalog.ts";
import { TEAMS_OF, type AlertDefinition, type Numbers } from "./catalog/definition.ts";
import type { AlertingRule, RecordingRule, RuleGroup } from "./model.ts";
import type { AlertOptions, AlertOverride } from "./options.ts";
import { PACE_MILLIS } from "./paces.ts";
import { durationText, quote, select } from "./promql.ts";
import { deviceRules, inventoryRules, limitRules, readingRules } from "./recording/devices.ts";
import { faultRules, remapRules, slowFaultRules, throttleRules } from "./recording/faults.ts";
import { fleetRules } from "./recording/fleet.ts";
import { holderRules, processRules, shareRules } from "./recording/holders.ts";
import { hourRules, longRules } from "./recording/windows.ts";
import { serviceRules } from "./recording/services.ts";
import { costRules, evennessRules, OWNER_LABELS, workloadRules } from "./recording/workloads.ts";
import { xidRules } from "./recording/xids.ts";
import { keysOf } from "./series/keys.ts";

/** The label on every alert of this project, with its group. Routes and inhibitions match it. */
export const TOPIC = "gpu_topic";

/**
 * Returns the rules of a configuration: first the recording rules, which unify all exporters in one set of series, then the alerts, which
 * read no other series of exporters. Each group has its interval of evaluation.
 */
export function ruleGroups(options: AlertOptions): readonly RuleGroup[] {
  const { prefix, intervalMillis } = options;
  const group = <Rule>(name: string, millis: number, rules: readonly Rule[]): RuleGroup<Rule> => ({
    name: `${prefix}gpu-ledger.${name}`,
    intervalMillis: Math.max(millis, intervalMillis),
    rules,
  });
  return [...recordingGroups(options, group), ...alertGroups(options, group)].filter(({ rules }) => rules.length > 0);
}

type MakeGroup = <Rule>(name: string, millis: number, rules: readonly Rule[]) => RuleGroup<Rule>;

function recordingGroups(options: AlertOptions, group: MakeGroup): readonly RuleGroup<RecordingRule>[] {
  const quick = options.intervalMillis;
  const { minute, twoMinutes, fourMinutes } = PACE_MILLIS;
  return [
    group("inventory", minute, inventoryRules(options)),
    group("devices", quick, deviceRules(options)),
    group("limits", fourMinutes, limitRules(options)),
    group("holders", minute, holderRules(options)),
    group("processes", fourMinutes, processRules(options)),
    group("shares", quick, shareRules(options)),
    group("throttling", quick, throttleRules(options)),
    group("xids", quick, xidRules(options)),
    group("readings", minute, readingRules(options)),
    group("faults", twoMinutes, faultRules(options)),
    group("slow-faults", fourMinutes, slowFaultRules(options)),
    group("workloads", twoMinutes, [...workloadRules(options), ...evennessRules(options)]),
    group("costs", fourMinutes, costRules(options)),
    group("services", fourMinutes, serviceRules(options)),
    group("hours", twoMinutes, hourRules(options)),
    group("fleet", minute, fleetRules(options)),
    group("days", fourMinutes, [...remapRules(options), ...longRules(options)]),
  ];
}

function alertGroups(options: AlertOptions, group: MakeGroup): readonly RuleGroup<AlertingRule>[] {
  const wanted = CATALOG.filter(
    (each) => (options.only?.includes(each.group) ?? true) && options.alerts[each.name]?.enabled !== false,
  );
  const groups = new Map<string, { millis: number; rules: AlertingRule[] }>();
  for (const definition of wanted) {
    const millis = Math.max(definition.everyMillis ?? 0, options.intervalMillis);
    const name = `alerts.${definition.group}.${durationText(millis)}`;
    const entry = groups.get(name) ?? { millis, rules: [] };
    entry.rules.push(...rulesOf(definition, options));
    groups.set(name, entry);
  }
  const made = [...groups].map(([name, { millis, rules }]) => group(name, millis, rules));
  return options.watchdog ? [...made, group("alerts.watchdog", PACE_MILLIS.minute, [watchdog(options)])] : made;
}

/** Returns the rules of an alert: one for all, and one for each team with numbers of its own. */
function rulesOf(definition: AlertDefinition, options: AlertOptions): readonly AlertingRule[] {
  const own = options.alerts[definition.name];
  const teams = Object.entries(options.teams).flatMap(([team, overrides]) => {
    const override = overrides[definition.name];
    return override === undefined ? [] : [{ team, override }];
  });
  if (teams.length === 0) return [ruleOf(definition, options, own)];
  const names = teams.map(({ team }) => escapeRegex(team)).join("|");
  return [
    ruleOf(definition, options, own, (expr) => ofTeams(definition, options, expr, "unless", `team=~${quote(names)}`)),
    ...teams
      .filter(({ override }) => override.enabled !== false)
      .map(({ team, override }) =>
        ruleOf(
          definition,
          options,
          {
            ...own,
            forMillis: override.forMillis ?? own?.forMillis,
            parameters: { ...own?.parameters, ...override.parameters },
          },
          (expr) => ofTeams(definition, options, expr, "and", `team=${quote(team)}`),
          { team },
        ),
      ),
  ];
}

function ruleOf(
  definition: AlertDefinition,
  options: AlertOptions,
  override: AlertOverride | undefined,
  narrowed: (expr: string) => string = (expr) => expr,
  labels: Readonly<Record<string, string>> = {},
): AlertingRule {
  const { name, severity, notify, forMillis, keepFiringForMillis } = definition;
  const expr = narrowed(definition.expr(options, numbersOf(definition, override)));
  return {
    alert: `${options.prefix}${name}`,
    expr: definition.subject === "pod" ? withOwners(options, expr) : expr,
    forMillis: override?.forMillis ?? forMillis,
    ...(keepFiringForMillis === undefined ? {} : { keepFiringForMillis }),
    labels: {
      severity: override?.severity ?? severity,
      notify: override?.notify ?? notify,
      [TOPIC]: definition.group,
      ...options.labels,
      ...labels,
    },
    annotations: annotationsOf(definition, options),
  };
}

function numbersOf({ parameters = {} }: AlertDefinition, override: AlertOverride | undefined): Numbers {
  const own = Object.fromEntries(Object.entries(parameters).map(([name, { value }]) => [name, value]));
  return { ...own, ...override?.parameters };
}

/** Joins the owner of a pod. If the owner is unknown, the alert is kept without one. */
function withOwners(options: AlertOptions, expr: string): string {
  const on = `on (${keysOf(options).pod.join(", ")})`;
  const lines = expr.replaceAll("\n", "\n  ");
  return `(
  ${lines}
) * ${on} group_left (${OWNER_LABELS.join(", ")}) gpu:workload:info
or ${on}
(
  ${lines}
)`;
}

function ofTeams(
  { subject, teamSeries }: AlertDefinition,
  options: AlertOptions,
  expr: string,
  operator: "and" | "unless",
  matcher: string,
): string {
  const { cluster, pod } = keysOf(options);
  if (teamSeries !== undefined)
    return `(${expr}) ${operator} on (team) max_over_time(${select(teamSeries, matcher)}[${TEAMS_OF}])`;
  const [on, info] =
    subject === "team"
      ? [`${cluster}, team`, `team:gpus_held:count{${matcher}}`]
      : [pod.join(", "), `gpu:workload:info{${matcher}}`];
  return `(${expr}) ${operator} on (${on}) ${info}`;
}

function watchdog(options: AlertOptions): AlertingRule {
  return {
    alert: `${options.prefix}GPULedgerWatchdog`,
    expr: "vector(1)",
    forMillis: 0,
    labels: { severity: "none", notify: "none", [TOPIC]: "watchdog", ...options.labels },
    annotations: {
      summary: "Alerts are evaluated and sent.",
      description: "This alert always fires. Where it stops, the way of alerts to people is broken.",
      runbook_url: `${options.runbooks}/GPULedgerWatchdog.md`,
    },
  };
}

function escapeRegex(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
