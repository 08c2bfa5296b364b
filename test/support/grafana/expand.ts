/** What Grafana puts in the place of its variables before a query is sent. */
export interface Shown {
  /** The values that are chosen of each variable; of `$__all` the value that stands for all. */
  readonly chosen: Readonly<Record<string, string | readonly string[]>>;
  readonly fromMillis: number;
  readonly untilMillis: number;
  /** The distance of two points, and of two scrapes. */
  readonly stepSeconds: number;
  readonly scrapeSeconds: number;
}

/** What begins with a digit is no variable, but a group of a regular expression. */
const VARIABLE = /\$(?:\{([A-Za-z_]\w*)(?::\w+)?\}|([A-Za-z_]\w*))/g;

/**
 * A query to Prometheus as Grafana sends it: variables in regular expressions, several values as alternatives, and the intervals that its
 * data source knows (grafana.com/docs, "Template variables" of Prometheus). Fails where a variable is not known.
 */
export function expandedPromql(expr: string, shown: Shown): string {
  const { chosen, fromMillis, untilMillis, stepSeconds, scrapeSeconds } = shown;
  const range = Math.round((untilMillis - fromMillis) / 1000);
  const own: Readonly<Record<string, string>> = {
    __interval: `${stepSeconds}s`,
    __rate_interval: `${Math.max(stepSeconds + scrapeSeconds, 4 * scrapeSeconds)}s`,
    __range: `${range}s`,
    __range_s: String(range),
  };
  return expr.replaceAll(VARIABLE, (text, braced: string | undefined, bare: string | undefined) => {
    const name = braced ?? bare!;
    const value = own[name] ?? chosen[name];
    if (value === undefined) throw new Error(`nothing is known of the variable ${text}`);
    return typeof value === "string" ? value : `(${value.map(escaped).join("|")})`;
  });
}

/** `label_values(selector, label)` of a variable. Fails where it is something else. */
export function labelValuesOf(definition: string): { readonly selector: string; readonly label: string } {
  const [, selector, label] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
  if (selector === undefined) throw new Error(`not label_values: ${definition}`);
  return { selector, label: label! };
}

/** Within PromQL's quotes a backslash is one only when there are two. */
function escaped(text: string): string {
  return text.replaceAll(/[\\^$*+?.()|[\]{}]/g, String.raw`\\$&`);
}
