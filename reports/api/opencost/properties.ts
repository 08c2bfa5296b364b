import type { FieldTest, Filter } from "./filter.ts";

/** The kind of a pod's controller, and its name, in SQL. Both are empty for a pod without a controller. */
export const KIND = "if(workload_kind = 'Pod', '', lower(workload_kind))";
export const CONTROLLER = "if(workload_kind = 'Pod', '', workload)";
/** The SQL over `charges` for each name of OpenCost. The name of a label is a parameter. */
const COLUMNS: ReadonlyMap<string, string> = new Map([
  ["cluster", "cluster"],
  ["node", "node"],
  ["namespace", "namespace"],
  ["controller", CONTROLLER],
  ["controllername", CONTROLLER],
  ["controllerkind", KIND],
  ["pod", "pod"],
  ["provider", "''"],
  ["providerid", "''"],
  ["container", "''"],
  ["service", "''"],
  ["services", "''"],
  ["team", "team"],
  ["environment", "environment"],
  ["department", "cost_center"],
  ["owner", "team"],
  ["product", "project"],
]);

/** Controllers of one kind by their names, as OpenCost aggregates them. */
const KINDS = new Set(["deployment", "statefulset", "daemonset", "job"]);

/** The name of allocations for which a property is empty. */
const UNALLOCATED = "__unallocated__";

/** The names by which allocations are aggregated, in SQL. */
export interface Names {
  readonly columns: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
}

/** The properties that name allocations without aggregation. */
const NOT_AGGREGATED = ["cluster", "node", "namespace", "pod"];

/**
 * Reads `aggregate`: properties, `label:app` and the like, separated by commas; `all` for one sum, nothing for each pod. An error names the
 * first property that does not exist.
 */
export function readAggregate(text: string): Names | { readonly error: string } {
  const asked = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (asked.length === 1 && asked[0] === "all") return { columns: [], parameters: {} };
  const columns: string[] = [];
  const parameters: Record<string, string> = {};
  for (const name of asked.length === 0 ? NOT_AGGREGATED : asked) {
    const [, label] = /^(?:label|annotation):(.+)$/.exec(name) ?? [];
    const lower = name.toLowerCase();
    const column = COLUMNS.get(lower);
    if (label !== undefined) columns.push(orUnallocated(labelSql(label, "label", parameters)));
    else if (KINDS.has(lower)) columns.push(orUnallocated(`if(lower(workload_kind) = '${lower}', workload, '')`));
    else if (lower === "controller") columns.push(KIND_AND_NAME);
    else if (column === undefined) return { error: `${JSON.stringify(name)} is not a property for aggregation` };
    else columns.push(lower === "namespace" || lower === "pod" ? column : orUnallocated(column));
  }
  return { columns, parameters };
}

const KIND_AND_NAME = orUnallocated(`if(${CONTROLLER} = '', '', concat(${KIND}, ':', ${CONTROLLER}))`);

function orUnallocated(column: string): string {
  return `if(${column} = '', '${UNALLOCATED}', ${column})`;
}

/** Returns a filter as a condition in SQL, or the field that does not exist. Values are parameters, which are added to `parameters`. */
export function filterSql(
  filter: Filter,
  parameters: Record<string, string>,
): { readonly sql: string } | { readonly error: string } {
  switch (filter.op) {
    case "test":
      return testSql(filter, parameters);
    case "not": {
      const inner = filterSql(filter.of, parameters);
      return "error" in inner ? inner : { sql: `NOT (${inner.sql})` };
    }
    case "and":
    case "or": {
      const parts: string[] = [];
      for (const one of filter.of) {
        const part = filterSql(one, parameters);
        if ("error" in part) return part;
        parts.push(`(${part.sql})`);
      }
      return { sql: parts.join(filter.op === "and" ? " AND " : " OR ") };
    }
  }
}

function testSql(
  { field, key, by, value }: FieldTest,
  parameters: Record<string, string>,
): { readonly sql: string } | { readonly error: string } {
  const lower = field.toLowerCase();
  const isMap = lower === "label" || lower === "annotation";
  const column = isMap && key !== undefined ? labelSql(key, "key", parameters) : COLUMNS.get(lower);
  if (column === undefined)
    return { error: `${field}${key === undefined ? "" : `[${key}]`} is not a field for filters` };
  const given = parameter("value", lower === "controllerkind" ? value.toLowerCase() : value, parameters);
  switch (by) {
    case "equals":
      return { sql: `${column} = if(${given} = '${UNALLOCATED}', '', ${given})` };
    case "contains":
      return { sql: `position(${column}, ${given}) > 0` };
    case "starts":
      return { sql: `startsWith(${column}, ${given})` };
    case "ends":
      return { sql: `endsWith(${column}, ${given})` };
  }
}

/** Finds labels by the written name and by the name in Prometheus: `app.kubernetes.io/name` is `app_kubernetes_io_name` there. */
function labelSql(label: string, prefix: string, parameters: Record<string, string>): string {
  const given = parameter(prefix, label, parameters);
  const isIt = `name = ${given} OR replaceRegexpAll(name, '[^a-zA-Z0-9_]', '_') = ${given}`;
  return `arrayFirst((value, name) -> ${isIt}, mapValues(labels), mapKeys(labels))`;
}

/** Adds a parameter under a new name. Returns its placeholder. */
function parameter(prefix: string, value: string, parameters: Record<string, string>): string {
  const name = `${prefix}${Object.keys(parameters).length}`;
  parameters[name] = value;
  return `{${name}:String}`;
}
