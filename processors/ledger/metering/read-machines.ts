import { IMPORTED_UID, type CountedBy, type InventoryFact } from "../../../domain/inventory.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import { isGuess, strongestCount } from "../../../domain/share/node-gpus.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { FACT_ORDER } from "../../../runtime/store/schema/facts.ts";
import { bySpan, spanParameters } from "../runs/spans-sql.ts";
import type { Machine, MachineState, Span } from "../plan/node-record.ts";

/** How long after a span a fact can still describe it. Nodes report since when they are not ready. */
const SAID_LATER_MILLIS = HOUR_MILLIS;

/** Facts in order. A fact whose clock is older than the fact before it begins with that fact, as in the view `inventory`. */
const HISTORY = `
SELECT span, node, uid, ended, gpus,
  JSONExtractString(fact, 'gpus', 1, 'countedBy') AS counted_by,
  JSONExtractUInt(fact, 'knownUntil') AS known_until,
  toUnixTimestamp64Milli(joined_at) AS joined,
  toUnixTimestamp64Milli(valid_from) AS valid_since,
  toUnixTimestamp64Milli(valid_until) AS valid_to,
  toString(cityHash64(instance_type, region, zone, pool, capacity_type, model, JSONExtractRaw(fact, 'labels'))) AS description,
  if(valid_until > fromUnixTimestamp64Milli({begins:Array(Int64)}[span]), fact, '') AS body
FROM (
  SELECT *, leadInFrame(valid_from, 1, toDateTime64('2299-12-31 00:00:00', 3, 'UTC')) OVER (
    PARTITION BY span, node ORDER BY ${FACT_ORDER}
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_until
  FROM (
    SELECT *, span, max(at) OVER (
      PARTITION BY span, node ORDER BY ${FACT_ORDER}
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS valid_from
    FROM inventory_facts FINAL
    ARRAY JOIN arrayFilter(
      (each, end) -> least(at, joined_at) < fromUnixTimestamp64Milli(end + ${SAID_LATER_MILLIS}),
      arrayEnumerate({ends:Array(Int64)}), {ends:Array(Int64)}) AS span
    WHERE cluster = {cluster:String} AND node IN {nodes:Array(String)}
  )
)
ORDER BY span, node, ${FACT_ORDER}`;

interface HistoryRow {
  readonly node: string;
  readonly uid: string;
  readonly ended: boolean;
  readonly gpus: number;
  /** Empty in facts of releases that counted by labels alone. */
  readonly counted_by: CountedBy | "";
  /** 0 if there is no limit. */
  readonly known_until: string;
  readonly joined: string;
  readonly valid_since: string;
  readonly valid_to: string;
  readonly description: string;
  readonly body: string;
}

/** Some nodes of a cluster in a span. */
export interface AskedNodes {
  readonly cluster: string;
  readonly nodes: readonly string[];
  readonly span: Span;
}

/**
 * Reads the machines of each node within its span, with the states of their Nodes in it. A machine exists from the creation of its Node,
 * whenever it was first seen, until it was gone or the next machine took its name.
 */
export async function readMachines(
  store: StoreClient,
  all: readonly AskedNodes[],
): Promise<readonly ReadonlyMap<string, readonly Machine[]>[]> {
  const spans = all.map(({ span }) => span);
  const nodes = [...new Set(all.flatMap((asked) => asked.nodes))];
  const rows = await store.query<HistoryRow & { readonly span: number }>(HISTORY, {
    cluster: all[0]!.cluster,
    nodes,
    ...spanParameters(spans),
  });
  return bySpan<HistoryRow>(rows, spans).map((ofSpan, index) => {
    const byNode = groupedBy(ofSpan, ({ node }) => node);
    return new Map([...byNode].map(([node, history]) => [node, machinesOf(history, spans[index]!)]));
  });
}

/** Returns the machines of one node from its facts in order. */
function machinesOf(given: readonly HistoryRow[], span: Span): readonly Machine[] {
  const history = withUids(given);
  const uids = [...new Set(history.map(({ uid }) => uid))];
  const machines = uids.map((uid, index): Machine => {
    const rows = history.filter((row) => row.uid === uid);
    const end = rows.find(({ ended }) => ended);
    const next = history.find((row) => row.uid === uids[index + 1]);
    const until = Math.min(
      end === undefined ? Infinity : Number(end.valid_since),
      next === undefined ? Infinity : Number(next.joined),
      Number(rows.at(-1)!.known_until) || Infinity,
    );
    const reported = rows.filter(({ ended }) => !ended);
    const seen = reported.filter(({ valid_since }) => Number(valid_since) < span.until);
    const known = seen.length > 0 ? seen : reported.slice(0, 1);
    const strongest = strongestCount(known.map(({ gpus, counted_by }) => ({ by: counted_by || "label", count: gpus })));
    return {
      uid,
      from: Math.min(...rows.map(({ joined }) => Number(joined))),
      until,
      most: strongest?.count ?? 0,
      ...(strongest === undefined || isGuess(strongest.by) ? { isGuess: true as const } : {}),
      states: statesOf(rows),
    };
  });
  return machines.filter(({ from, until }) => from < span.until && until > span.from);
}

/** Returns rows in which an imported machine has the UID of the machine that a watcher saw: both joined at the same time. */
function withUids(rows: readonly HistoryRow[]): readonly HistoryRow[] {
  const isImported = ({ uid }: HistoryRow): boolean => uid.startsWith(IMPORTED_UID);
  const uids = new Map(rows.flatMap((row) => (isImported(row) ? [] : [[row.joined, row.uid] as const])));
  return rows.map((row) => (isImported(row) ? { ...row, uid: uids.get(row.joined) ?? row.uid } : row));
}

function statesOf(rows: readonly HistoryRow[]): readonly MachineState[] {
  const states: MachineState[] = [];
  let described: { readonly description: string; readonly since: number } | undefined;
  for (const { valid_since, valid_to, description, ended, body, joined } of rows) {
    if (ended) continue;
    const from = described === undefined ? Math.min(Number(joined), Number(valid_since)) : Number(valid_since);
    if (described?.description !== description) described = { description, since: from };
    if (body === "" || Number(valid_to) <= from) continue;
    states.push({
      from,
      until: Number(valid_to),
      fact: JSON.parse(body) as InventoryFact,
      describedSince: described.since,
    });
  }
  return states;
}
