import { stringify } from "yaml";
import type { AlertingRule, RecordingRule, RuleGroup } from "../model.ts";
import { durationText } from "../promql.ts";

/** Returns a group in Prometheus' form. */
export function groupObject({ name, intervalMillis, rules }: RuleGroup): object {
  return { name, interval: durationText(intervalMillis), rules: rules.map(ruleObject) };
}

/** Returns a rule file of Prometheus. */
export function ruleFile(groups: readonly RuleGroup[]): string {
  return stringify({ groups: groups.map(groupObject) }, { lineWidth: 0, aliasDuplicateObjects: false });
}

function ruleObject(rule: RecordingRule | AlertingRule): object {
  if ("record" in rule) return rule;
  const { alert, expr, forMillis, keepFiringForMillis, labels, annotations } = rule;
  return {
    alert,
    expr,
    ...(forMillis === 0 ? {} : { for: durationText(forMillis) }),
    ...(keepFiringForMillis === undefined ? {} : { keep_firing_for: durationText(keepFiringForMillis) }),
    labels,
    annotations,
  };
}
