import { METRIC_BY_NAME } from "../../../domain/metric.ts";
import { namesOf } from "../../../alerts/series/exporter-names.ts";
import { durationText } from "../../../alerts/promql.ts";
import type { AlertingRule, RecordingRule, RuleGroup } from "../../../alerts/model.ts";

/** Rules in which one thing is not as it should be. */
export interface Mutant {
  /** The rule, and what was changed in it. */
  readonly what: string;
  /** The alert or the series that the rule makes. */
  readonly makes: string;
  readonly groups: readonly RuleGroup[];
}

type Rule = RecordingRule | AlertingRule;

/**
 * Every rule with every threshold, duration, comparison and set operator of it changed, one at a time. What the generator
 * writes into many rules by the same words is changed in the first of them.
 */
export function mutantsOf(groups: readonly RuleGroup[]): readonly Mutant[] {
  const changed = new Set<string>();
  const isNew = ({ place }: Change): boolean =>
    place === undefined || (!changed.has(place) && changed.add(place) !== undefined);
  return groups.flatMap((group) =>
    group.rules.flatMap((rule, index) =>
      changesOf(rule)
        .filter(isNew)
        .map(({ what, rule: other }) => ({
          what: `${nameOf(rule)}: ${what}`,
          makes: nameOf(rule),
          groups: groups.map((each) => (each === group ? { ...group, rules: group.rules.with(index, other) } : each)),
        })),
    ),
  );
}

interface Change {
  readonly what: string;
  readonly rule: Rule;
  /** The words around it, by which it is known in other rules. */
  readonly place?: string;
}

function nameOf(rule: Rule): string {
  return "record" in rule ? rule.record : rule.alert;
}

function changesOf(rule: Rule): readonly Change[] {
  const changes: Change[] = exprChanges(rule.expr).map(({ what, expr, place }) => ({
    what,
    place,
    rule: { ...rule, expr },
  }));
  if ("record" in rule) return changes;
  for (const key of ["forMillis", "keepFiringForMillis"] as const) {
    const millis = rule[key];
    if (millis === undefined) continue;
    for (const other of millis === 0 ? [60_000] : [millis / 2, millis * 1.5]) {
      changes.push({ what: `${key} ${durationText(other)}`, rule: { ...rule, [key]: other } });
    }
  }
  return changes;
}

/** So many letters before and after make a place. */
const AROUND = 20;

const OPERATORS: Readonly<Record<string, string>> = {
  ">": ">=",
  ">=": ">",
  "<": "<=",
  "<=": "<",
  "==": "!=",
  and: "unless",
  unless: "and",
};

/** Texts and label matchers, which are left alone; then durations, numbers, operators. */
const TOKEN =
  /"(?:[^"\\]|\\.)*"|\{[^}]*\}|\[(?<range>[0-9a-z:]+)\]|offset (?<offset>[0-9a-z]+)|(?<![A-Za-z_:0-9.])(?<number>-?\d+(?:\.\d+)?)(?![A-Za-z_:0-9.])|(?<operator>>=|<=|==|>|<|\band\b|\bunless\b)|\w+/g;

function exprChanges(expr: string): readonly { what: string; expr: string; place: string }[] {
  return [...expr.matchAll(TOKEN)].flatMap((match) => {
    const { range, offset, number, operator } = match.groups ?? {};
    const others =
      range !== undefined
        ? rangesBeside(range).map((each) => `[${each}]`)
        : offset !== undefined
          ? []
          : number !== undefined
            ? numbersBeside(Number(number)).map(String)
            : operator === undefined
              ? []
              : [OPERATORS[operator]!];
    const at = match.index;
    if (isBound(expr.slice(0, at), match[0], expr.slice(at + match[0].length))) return [];
    const before = expr.slice(Math.max(0, at - AROUND), at);
    const after = expr.slice(at + match[0].length).slice(0, AROUND);
    return others.map((other) => ({
      what: `${match[0]} → ${other} at ${at}`,
      // The generator writes an expression twice where owners are joined on: a mistake of its would stand in both.
      expr: expr.replaceAll(`${before}${match[0]}${after}`, `${before}${other}${after}`),
      place: `${before}|${other}|${after}`,
    }));
  });
}

/** What no value exceeds that can be true: no threshold of an alert, and held by tests of its own. */
const BOUNDS = new Set(
  [...METRIC_BY_NAME.keys(), "xid_errors", "memory_max_operating_temperature_celsius"]
    .flatMap((column) => namesOf(column).map(({ most }) => String(most)))
    .concat("1.01", "101"),
);

function isBound(before: string, token: string, after: string): boolean {
  if (token === "<=") return BOUNDS.has(/^ ([\d.]+)/.exec(after)?.[1] ?? "");
  return before.endsWith("<= ") && BOUNDS.has(token);
}

function numbersBeside(value: number): readonly number[] {
  if (value === 0) return [1];
  const step = Number.isInteger(value) && Math.abs(value) < 10 ? 1 : Math.abs(value) * 0.1;
  return [value - step, value + step].map((each) => Number(each.toPrecision(6)));
}

function rangesBeside(range: string): readonly string[] {
  if (range.includes(":")) return [];
  const amount = Number.parseInt(range, 10);
  const unit = range.slice(String(amount).length);
  return [`${amount * 3}${unit}`];
}
