/** The names that an expression reads: its series, and the labels that it matches or groups by. */
export interface Reads {
  readonly series: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
}

const GROUPINGS = /\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const KEYWORDS = new Set(["and", "or", "unless", "offset", "bool", "by", "on", "without", "group_left", "group_right"]);

/** Reads PromQL in the form of our rules: `__name__` is matched by alternatives, without other regular expressions. */
export function readsOf(expr: string): Reads {
  const series = new Set<string>();
  const labels = new Set<string>();
  const withoutSelectors = expr.replaceAll(/\{((?:[^{}"]|"(?:[^"\\]|\\.)*")*)\}/g, (_, matchers: string) => {
    for (const [, label, value] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)) {
      if (label === "__name__") for (const name of value!.split("|")) series.add(name);
      else labels.add(label!);
    }
    return " ";
  });
  const withoutTexts = withoutSelectors.replaceAll(/"(?:[^"\\]|\\.)*"/g, " ");
  const bare = withoutTexts.replaceAll(GROUPINGS, (_, _word, list: string) => {
    for (const label of list.split(",").map((each) => each.trim())) if (label !== "") labels.add(label);
    return " ";
  });
  for (const [, name, next] of bare.matchAll(/(?<![\w.])([A-Za-z_][\w:]*)\s*(\()?/g)) {
    if (next === undefined && !KEYWORDS.has(name!)) series.add(name!);
  }
  return { series, labels };
}
