/** The values with which Grafana replaces its variables before it sends a query. */
export interface Shown {
  /** The chosen values of each variable. For `$__all` it is the value that stands for all. */
  readonly chosen: Readonly<Record<string, string | readonly string[]>>;
  readonly fromMillis: number;
  readonly untilMillis: number;
  /** The interval between two points, and between two scrapes. */
  readonly stepSeconds: number;
  readonly scrapeSeconds: number;
}

/** A name that begins with a digit is not a variable but a group of a regular expression. */
const VARIABLE = /\$(?:\{([A-Za-z_]\w*)(?::\w+)?\}|([A-Za-z_]\w*))/g;

/**
 * A query to Prometheus as Grafana sends it: with its variables in regular expressions, several values as alternatives, and the intervals of its data
 * source (grafana.com/docs, "Template variables" of Prometheus). Fails where a variable is unknown.
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

/** `label_values(selector, label)` of a variable. Fails where the definition has another form. */
export function labelValuesOf(definition: string): { readonly selector: string; readonly label: string } {
  const [, selector, label] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
  if (selector === undefined) throw new Error(`not label_values: ${definition}`);
  return { selector, label: label! };
}

/**
 * A query to ClickHouse as its server gets it. The browser leaves out conditions of variables with the choice "all" and replaces the others by their
 * values; the plugin's backend expands its macros (grafana/clickhouse-datasource 4.20, `CHDatasource.ts` and `macros.go`). Fails where a variable or
 * a macro is unknown.
 */
export function expandedSql(sql: string, shown: Shown): string {
  const { chosen, fromMillis, untilMillis, stepSeconds } = shown;
  const [from, until] = [fromMillis, untilMillis].map((millis) => `toDateTime(${Math.floor(millis / 1000)})`);
  const conditional = /\$__conditionalAll\(((?:[^(),]|\([^()]*\))*),\s*\$(\w+)\)/g;
  const withConditions = sql.replaceAll(conditional, (_, condition: string, name: string) =>
    valueOf(chosen, name) === ALL ? "1=1" : condition,
  );
  const withValues = withConditions.replaceAll(/\$\{([A-Za-z]\w*):singlequote\}/g, (_, name: string) => {
    const values = [valueOf(chosen, name)].flat();
    return values.map((value) => `'${value.replaceAll("'", String.raw`\'`)}'`).join(",");
  });
  const macros: readonly (readonly [RegExp, string])[] = [
    [/\$__timeFilter\((\w+)\)/g, `$1 >= ${from} AND $1 <= ${until}`],
    [/\$__timeInterval\((\w+)\)/g, `toStartOfInterval(toDateTime($1), INTERVAL ${Math.max(stepSeconds, 1)} second)`],
    [/\$__fromTime\b/g, from!],
    [/\$__toTime\b/g, until!],
    [/\$__interval_s\b/g, String(Math.max(stepSeconds, 1))],
  ];
  const expanded = macros.reduce((text, [macro, by]) => text.replaceAll(macro, by), withValues);
  const unknown = /\$\{?\w+/.exec(expanded);
  if (unknown !== null) throw new Error(`nothing is known of ${unknown[0]}`);
  return expanded;
}

/** The value of a variable for the choice "all". */
export const ALL = ".*";

function valueOf(chosen: Shown["chosen"], name: string): string | readonly string[] {
  const value = chosen[name];
  if (value === undefined) throw new Error(`nothing is known of the variable $${name}`);
  return value;
}

/** Within the quotes of PromQL, a backslash is written as two. */
function escaped(text: string): string {
  return text.replaceAll(/[\\^$*+?.()|[\]{}]/g, String.raw`\\$&`);
}
