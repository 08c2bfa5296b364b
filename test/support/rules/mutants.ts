import { METRIC_BY_NAME } from "../../../domain/metric.ts";
import { namesOf } from "../../../alerts/series/exporter-names.ts";
import { durationText } from "../../../alerts/promql.ts";
import type { AlertingRule, RecordingRule, RuleGroup } from "../../../alerts/model.ts";

/** Rules with one deliberate mistake. */
export interface Mutant {
  /** The alert or the series that the rule makes. */
  readonly makes: string;
  /** The changed part: the line of the expression, or the name of another field of the rule. */
  readonly change: string;
  readonly groups: readonly RuleGroup[];
}

/** A rule of either kind. */
export type Rule = RecordingRule | AlertingRule;

/**
 * Every rule, with each of its thresholds, durations, comparisons and set operators changed, one at a time. A line that the generator writes into
 * many rules is changed in the first of them only.
 */
export function mutantsOf(groups: readonly RuleGroup[]): readonly Mutant[] {
  const changed = new Set<string>();
  const isNew = ({ change, isLine }: Change): boolean =>
    !isLine || (!changed.has(change) && changed.add(change) !== undefined);
  return groups.flatMap((group) =>
    group.rules.flatMap((rule, index) =>
      changesOf(rule)
        .filter(isNew)
        .map(({ change, rule: other }) => ({
          makes: nameOf(rule),
          change,
          groups: groups.map((each) => (each === group ? { ...group, rules: group.rules.with(index, other) } : each)),
        })),
    ),
  );
}

/** A short text of a mutant. */
export function mutantText({ makes, change }: Mutant): string {
  return `${makes}: ${change.replace(LONG_LINE, "$1")}`;
}

/** A changed line with the characters around the change, so that a reader can find the place. */
const LONG_LINE = /^.*?(.{0,30}\[\S+ → .+?\].{0,30}).*$/;

interface Change {
  readonly change: string;
  readonly rule: Rule;
  /** True if other rules may have the same line. */
  readonly isLine: boolean;
}

/** The result of a rule: the name of its alert, or of its series. */
export function nameOf(rule: Rule): string {
  return "record" in rule ? rule.record : rule.alert;
}

function changesOf(rule: Rule): readonly Change[] {
  const changes: Change[] = exprChanges(rule.expr).map(({ change, expr }) => ({
    change,
    rule: { ...rule, expr },
    isLine: true,
  }));
  if ("record" in rule) return changes;
  for (const key of ["forMillis", "keepFiringForMillis"] as const) {
    const millis = rule[key];
    if (millis === undefined) continue;
    for (const other of millis === 0 ? [60_000] : [millis / 2, millis * 1.5]) {
      changes.push({ change: `${key} ${durationText(other)}`, rule: { ...rule, [key]: other }, isLine: false });
    }
  }
  return changes;
}

const OPERATORS: Readonly<Record<string, string>> = {
  ">": ">=",
  ">=": ">",
  "<": "<=",
  "<=": "<",
  "==": "!=",
  and: "unless",
  unless: "and",
};

/** Texts, label matchers, offsets and comparisons that only test for existence, which stay unchanged; then durations, numbers, operators. */
const TOKEN =
  /"(?:[^"\\]|\\.)*"|\{[^}]*\}|\[(?<range>[0-9a-z:]+)\]|offset [0-9a-z]+|vector\([^)]*\)|(?<![A-Za-z_:0-9.])(?<number>-?\d+(?:\.\d+)?)(?![A-Za-z_:0-9.])|(?<operator>>=|<=|==|>|<|\band\b|\bunless\b)|\w+/g;

function exprChanges(expr: string): readonly { change: string; expr: string }[] {
  const lines = expr.split("\n");
  return [...new Set(lines)].flatMap((line) =>
    lineChanges(line).map(({ change, other }) => ({
      change,
      // The generator writes a line twice where it joins owners. A mistake in the generator would appear in both places.
      expr: lines.map((each) => (each === line ? other : each)).join("\n"),
    })),
  );
}

function lineChanges(line: string): readonly { change: string; other: string }[] {
  return [...line.matchAll(TOKEN)].flatMap((match) => {
    const before = line.slice(0, match.index);
    const after = line.slice(match.index + match[0].length);
    if (isBound(before, match[0], after)) return [];
    return othersOf(match).map((other) => ({
      change: `${before}[${match[0]} → ${other}]${after}`.trim(),
      other: `${before}${other}${after}`,
    }));
  });
}

function othersOf(match: RegExpExecArray): readonly string[] {
  const { range, number, operator } = match.groups ?? {};
  if (range !== undefined) return rangesBeside(range).map((each) => `[${each}]`);
  if (number !== undefined) return numbersBeside(Number(number)).map(String);
  return operator === undefined ? [] : [OPERATORS[operator]!];
}

/** Values above every possible reading. They are no alert's threshold, and have tests of their own. */
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
