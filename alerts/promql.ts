import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../domain/time.ts";

const MILLIS: readonly (readonly [unit: string, millis: number])[] = [
  ["d", DAY_MILLIS],
  ["h", HOUR_MILLIS],
  ["m", MINUTE_MILLIS],
  ["s", 1000],
  ["ms", 1],
];

/** Returns a duration in Prometheus' form, in its largest whole unit: `90s`, `2h`. */
export function durationText(millis: number): string {
  const [unit, size] = MILLIS.find(([, each]) => millis % each === 0 && millis >= each) ?? ["s", 1000];
  return `${millis / size}${unit}`;
}

/** Returns a text in PromQL's quotes. */
export function quote(text: string): string {
  return JSON.stringify(text);
}

/** Returns a selector: a metric's name and its non-empty matchers. */
export function select(name: string, ...matchers: readonly string[]): string {
  const given = matchers.filter((each) => each !== "");
  return given.length === 0 ? name : `${name}{${given.join(", ")}}`;
}

/** Returns a matcher for any of some values. They are inserted into a regular expression unchanged. */
export function anyOf(label: string, values: readonly (string | number)[]): string {
  return `${label}=~${quote(values.join("|"))}`;
}

/** Returns a label of Kubernetes in the form of kube-state-metrics: `label_`, and an underscore for every other character. */
export function stateLabel(name: string): string {
  return `label_${name.replaceAll(/[^A-Za-z0-9_]/g, "_")}`;
}

/** Copies the first non-empty label to a label with a new name. */
export function firstLabel(expr: string, name: string, from: readonly string[]): string {
  if (from.length === 1 && from[0] === name) return expr;
  return relabel(joinLabels(expr, name, from), name, name, ";*([^;]*).*");
}

/** Joins labels with semicolons between them. */
export function joinLabels(expr: string, name: string, from: readonly string[]): string {
  return `label_join(${expr}, ${[name, ";", ...from].map(quote).join(", ")})`;
}

/** Sets a label from the first group of a regular expression on another label. Without a match it is unchanged. */
export function relabel(expr: string, name: string, from: string, pattern = "(.+)"): string {
  return `label_replace(${expr}, ${quote(name)}, "$1", ${quote(from)}, ${quote(pattern)})`;
}

/** Returns the same value with a constant label. */
export function withLabel(expr: string, name: string, value: string): string {
  return `label_replace(${expr}, ${quote(name)}, ${quote(value)}, "", "")`;
}
