/**
 * The placeholders that a migration leaves open until it is applied. Replication and retention differ between stores; the file and its hash
 * do not.
 *
 * | in the file | one server | with a cluster |
 * |---|---|---|
 * | `$DATABASE` | the database's name | the same |
 * | `$ON_CLUSTER` | nothing | ``ON CLUSTER `name` `` |
 * | `$ENGINE(MergeTree)` | `MergeTree` | `ReplicatedMergeTree(path, replica)` |
 * | `$ENGINE(ReplacingMergeTree, v)` | `ReplacingMergeTree(v)` | `ReplicatedReplacingMergeTree(path, replica, v)` |
 * | `$TTL(raw, toDateTime(t))` | `TTL toDateTime(t) + INTERVAL 40 DAY`, or nothing if `raw` is 0 | the same |
 */
import { sqlIdentifier } from "./sql-tokens.ts";

/** The values of the placeholders. */
export interface TemplateValues {
  readonly database: string;
  /** The cluster on which tables are created; unset for a single server. */
  readonly cluster?: string;
  /** Retention in days, by the names that migrations use; 0 keeps forever. */
  readonly retentionDays: Readonly<Record<string, number>>;
}

/** ClickHouse's own default of a replica's path and name (`default_replica_path`, `default_replica_name`). */
const replicaArguments = ["'/clickhouse/tables/{uuid}/{shard}'", "'{replica}'"];

const placeholder = /\$([A-Z][A-Z_]*)/g;

/** Fills the placeholders of one statement. Throws a plain `Error` that names an unknown placeholder. */
export function renderTemplate(statement: string, values: TemplateValues): string {
  let rendered = "";
  let at = 0;
  for (const found of statement.matchAll(placeholder)) {
    if (found.index < at) continue;
    rendered += statement.slice(at, found.index);
    at = found.index + found[0].length;
    const name = found[1] ?? "";
    if (name === "DATABASE") rendered += sqlIdentifier(values.database);
    else if (name === "ON_CLUSTER") rendered += onCluster(values);
    else if (name === "ENGINE" || name === "TTL") {
      const list = argumentList(statement, at);
      if (list === undefined) throw new Error(`$${name} needs its arguments in parentheses`);
      rendered += name === "ENGINE" ? engine(list.items, values) : timeToLive(list.items, values);
      at = list.end;
    } else
      throw new Error(
        `$${name} is not a placeholder; the placeholders are $DATABASE, $ON_CLUSTER, $ENGINE(…) and $TTL(…)`,
      );
  }
  return rendered + statement.slice(at);
}

/** Returns `ON CLUSTER` with the configured name, or an empty text. */
export function onCluster(values: TemplateValues): string {
  return values.cluster === undefined ? "" : `ON CLUSTER ${sqlIdentifier(values.cluster)}`;
}

function engine(items: readonly string[], values: TemplateValues): string {
  const [name = "", ...own] = items;
  if (!/^[A-Za-z]*MergeTree$/.test(name)) throw new Error(`$ENGINE(${name}) is not of the MergeTree family`);
  const all = values.cluster === undefined ? own : [...replicaArguments, ...own];
  const full = values.cluster === undefined ? name : `Replicated${name}`;
  return all.length === 0 ? full : `${full}(${all.join(", ")})`;
}

function timeToLive(items: readonly string[], values: TemplateValues): string {
  const [name = "", expression] = items;
  if (expression === undefined || items.length !== 2) throw new Error("$TTL needs a retention's name and a time");
  const days = values.retentionDays[name];
  if (days === undefined) {
    const known = Object.keys(values.retentionDays).join(", ");
    throw new Error(`$TTL(${name}, …) is not a retention; the retentions are ${known === "" ? "none" : known}`);
  }
  if (!Number.isInteger(days) || days < 0) throw new Error(`The retention ${name} must be whole days, not ${days}`);
  return days === 0 ? "" : `TTL ${expression} + INTERVAL ${days} DAY`;
}

/** Returns the comma-separated items between the parentheses that begin at `from`. Commas inside inner parentheses do not separate. */
function argumentList(text: string, from: number): { items: readonly string[]; end: number } | undefined {
  if (text.charAt(from) !== "(") return undefined;
  const items: string[] = [];
  let depth = 0;
  let start = from + 1;
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    if (depth === 0 || (depth === 1 && character === ",")) {
      items.push(text.slice(start, at).trim());
      start = at + 1;
    }
    if (depth === 0) return { items, end: at + 1 };
  }
  return undefined;
}
