import type { AlertingRule, RecordingRule, RuleGroup } from "../../../alerts/model.ts";

/** The rules of some alerts, and the recorded series that these read, directly or through others. */
export function rulesFor(groups: readonly RuleGroup[], alerts: readonly string[]): readonly RuleGroup[] {
  const rules = groups.flatMap((group) => group.rules);
  const recorded = new Set(rules.flatMap((rule) => ("record" in rule ? [rule.record] : [])));
  const needed = new Set<string>();
  const follow = (texts: readonly string[]): void => {
    for (const name of texts.flatMap((text) => namesIn(text)).filter((each) => recorded.has(each))) {
      if (needed.has(name)) continue;
      needed.add(name);
      follow(rules.flatMap((rule) => ("record" in rule && rule.record === name ? [rule.expr] : [])));
    }
  };
  const isWanted = (rule: RecordingRule | AlertingRule): boolean =>
    "record" in rule ? needed.has(rule.record) : alerts.includes(rule.alert);
  follow(
    rules.flatMap((rule) =>
      "alert" in rule && alerts.includes(rule.alert) ? [rule.expr, ...Object.values(rule.annotations)] : [],
    ),
  );
  // A recorded series that a test asks for is given by its own name.
  follow(alerts.filter((name) => recorded.has(name)));
  for (const name of alerts) if (recorded.has(name)) needed.add(name);
  return groups
    .map((group) => ({ ...group, rules: group.rules.filter(isWanted) }))
    .filter((group) => group.rules.length > 0);
}

/** The names of series in an expression or a template, and words that have the same form. */
export function namesIn(text: string): readonly string[] {
  return text.match(/[A-Za-z_][A-Za-z0-9_]*(?::[A-Za-z0-9_]+)*/g) ?? [];
}
