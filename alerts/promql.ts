const MILLIS: readonly (readonly [unit: string, millis: number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
];

/** A duration as Prometheus writes it, in its largest whole unit: `90s`, `2h`. */
export function durationText(millis: number): string {
  const [unit, size] = MILLIS.find(([, each]) => millis % each === 0 && millis >= each) ?? ["s", 1000];
  return `${millis / size}${unit}`;
}

/** A text in PromQL's quotes. */
export function quote(text: string): string {
  return JSON.stringify(text);
}

/** A selector: a metric's name and matchers, those that are empty left out. */
export function select(name: string, ...matchers: readonly string[]): string {
  const given = matchers.filter((each) => each !== "");
  return given.length === 0 ? name : `${name}{${given.join(", ")}}`;
}

/** A matcher for any of some values. They stand in a regular expression as they are. */
export function anyOf(label: string, values: readonly (string | number)[]): string {
  return `${label}=~${quote(values.join("|"))}`;
}

/** A label of Kubernetes as kube-state-metrics writes it: `label_` and every other character an underscore. */
export function stateLabel(name: string): string {
  return `label_${name.replaceAll(/[^A-Za-z0-9_]/g, "_")}`;
}

/** The first of some labels that is not empty, under a name of its own. */
export function firstLabel(expr: string, name: string, from: readonly string[]): string {
  if (from.length === 1 && from[0] === name) return expr;
  return relabel(joinLabels(expr, name, from), name, name, ";*([^;]*).*");
}

/** Labels one after the other, semicolons between them. */
export function joinLabels(expr: string, name: string, from: readonly string[]): string {
  return `label_join(${expr}, ${[name, ";", ...from].map(quote).join(", ")})`;
}

/** A label made of another one's part that a regular expression's first group takes; where it does not match, as it was. */
export function relabel(expr: string, name: string, from: string, pattern = "(.+)"): string {
  return `label_replace(${expr}, ${quote(name)}, "$1", ${quote(from)}, ${quote(pattern)})`;
}

/** The same value with a label that says a word. */
export function withLabel(expr: string, name: string, value: string): string {
  return `label_replace(${expr}, ${quote(name)}, ${quote(value)}, "", "")`;
}
