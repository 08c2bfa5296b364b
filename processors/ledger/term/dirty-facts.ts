import { compareFacts } from "../../../domain/fact.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import { holdingOf, type Holding } from "../../../domain/holding.ts";
import type { InventoryFact } from "../../../domain/inventory.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";
import type { PartitionEnds } from "./dirty-windows.ts";
import { keyOf, type WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { LONGEST_REACH_MILLIS } from "../runs/window.ts";
import { readNamesakes } from "../metering/read-pods.ts";
import type { Watermark } from "../runs/runs.ts";
import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";

/** A time with new facts, milliseconds since the epoch, half-open. */
export interface ChangedSpan {
  readonly from: number;
  readonly until: number;
}

const TABLES = ["workload_facts", "inventory_facts", "cluster_facts"] as const;
/** The topic of each table's facts. */
const TOPICS = [WORKLOADS_TOPIC, INVENTORY_TOPIC, CLUSTER_TOPIC] as const;
/** The factor that encodes topic and partition in one number. A topic has fewer partitions than this. */
const PARTITIONS = 1_000_000;
/** The key columns of the object that a row of each table is a fact of. */
const OBJECTS = {
  workload_facts: "cluster, uid",
  inventory_facts: "cluster, node",
  cluster_facts: "cluster, kind, uid",
} as const;

/** A tracker of the hours that new facts affect. It uses the facts' bus positions, never their clock. */
export interface DirtyFacts {
  /** Returns the hours that have changed since the last look. The first look compares with the watermarks of the meter's runs. */
  look(): Promise<readonly WindowOfCluster[]>;
  /** Marks an hour of a look as metered, or as not to be metered. */
  settle(window: WindowOfCluster): void;
  /** The number of looks that found something new. */
  readonly found: number;
  /** The positions below which the hours of all facts are settled. The next leader begins there. */
  readonly watermark: Watermark;
}

/** A look: the positions that it reached, and its hours that are not settled yet. */
interface Look {
  readonly offsets: ReadonlyMap<number, number>;
  readonly waiting: Set<string>;
}

/**
 * Creates a tracker. Positions of a re-created bus begin at 0 again. If a partition ends before the last read offset, it is read from its
 * beginning, and rows of the store beyond its end belong to the previous bus.
 */
export function createDirtyFacts(options: {
  readonly store: StoreClient;
  /** Returns the ends of a topic's partitions. */
  readonly ends: (topic: string) => Promise<PartitionEnds>;
  readonly absentAfterMillis: number;
  readonly now: () => number;
}): DirtyFacts {
  const { store, ends, now } = options;
  // A GPU without samples keeps the holder of its last label for this time.
  const lastsMillis = options.absentAfterMillis + LONGEST_REACH_MILLIS;
  let offsets: ReadonlyMap<number, number> | undefined;
  let settled: ReadonlyMap<number, number> = new Map();
  const looks: Look[] = [];
  let found = 0;
  return {
    get found() {
      return found;
    },
    get watermark() {
      for (let first = looks[0]; first?.waiting.size === 0; first = looks[0]) {
        settled = first.offsets;
        looks.shift();
      }
      return settled;
    },
    settle(window) {
      for (const { waiting } of looks) waiting.delete(keyOf(window));
    },
    async look() {
      // Read before the rows, so that the next look finds rows that are stored in the meantime.
      const limits = await partitionEnds(ends);
      const from = within(offsets ?? (await meteredOffsets(store)), limits);
      if (offsets === undefined) settled = from;
      const rows = await rowsBetween(store, from, limits);
      const windows = new Map<string, WindowOfCluster>();
      const { spans, ended } = changesIn(rows, now());
      const labelled = await labelledHours(store, ended);
      const held = [...ended.map(({ cluster, until }) => ({ cluster, from: until, until })), ...labelled];
      const kept = held.map((span) => ({ ...span, until: Math.min(now(), span.until + lastsMillis) }));
      for (const { cluster, from, until } of [...spans, ...kept]) {
        for (let hour = hourOf(from); hour < until; hour += HOUR_MILLIS)
          windows.set(keyOf({ cluster, windowStart: hour }), { cluster, windowStart: hour });
      }
      // The offsets change only at the end, so a failed look has no effect.
      const seen = new Map(from);
      for (const { topic_partition: partition, reached } of rows)
        seen.set(partition, Math.max(seen.get(partition) ?? -1, Number(reached)));
      offsets = seen;
      if (rows.length > 0) found += 1;
      looks.push({ offsets, waiting: new Set(windows.keys()) });
      return [...windows.values()];
    },
  };
}

interface FactRow {
  readonly source: (typeof TABLES)[number];
  readonly cluster: string;
  readonly object: string;
  readonly fact: string;
  readonly topic_partition: number;
  readonly reached: string;
  readonly isNew: boolean;
}

/** Returns the ends of all partitions of the three topics. */
async function partitionEnds(ends: (topic: string) => Promise<PartitionEnds>): Promise<ReadonlyMap<number, number>> {
  const found = await Promise.all(TOPICS.map((topic) => ends(topic)));
  return new Map(
    found.flatMap((ofTopic, index) =>
      [...ofTopic].map(([partition, end]) => [index * PARTITIONS + partition, end] as const),
    ),
  );
}

/** Returns the offsets that are valid on a bus with these ends. An offset at or beyond its partition's end is from another bus. */
function within(
  offsets: ReadonlyMap<number, number>,
  limits: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  return new Map([...offsets].filter(([partition, offset]) => offset < (limits.get(partition) ?? 0)));
}

/** Reads the new rows beyond the offsets and before the limits, with all other rows of their objects, object by object. */
function rowsBetween(
  store: StoreClient,
  offsets: ReadonlyMap<number, number>,
  limits: ReadonlyMap<number, number>,
): Promise<readonly FactRow[]> {
  const ofTables = TABLES.map((table, index) => {
    const key = `toUInt32(${index * PARTITIONS} + partition)`;
    const number = `indexOf({keys:Array(UInt32)}, ${key}) + 1`;
    const isNew = `(position > {offsets:Array(Int64)}[${number}] AND position < {limits:Array(Int64)}[${number}])`;
    return `SELECT '${table}' AS source, cluster, toString((${OBJECTS[table]})) AS object, fact, ${key} AS topic_partition,
       toString(position) AS reached, toBool(${isNew}) AS isNew
     FROM ${table} FINAL
     WHERE (${OBJECTS[table]}) IN (SELECT ${OBJECTS[table]} FROM ${table} WHERE ${isNew})`;
  });
  return store.query<FactRow>(`SELECT * FROM (${ofTables.join("\nUNION ALL ")}) ORDER BY source, object`, {
    keys: [...limits.keys()],
    offsets: [-1, ...[...limits.keys()].map((partition) => offsets.get(partition) ?? -1)],
    limits: [0, ...limits.values()],
  });
}

type SpanOfCluster = ChangedSpan & { readonly cluster: string };

/** The changes by new rows: spans, and the pods that were unknown until their end, whose labels can have held beyond it. */
interface Changes {
  readonly spans: readonly SpanOfCluster[];
  readonly ended: readonly EndedPod[];
}

type EndedPod = Holding & { readonly cluster: string };

function changesIn(rows: readonly FactRow[], now: number): Changes {
  const spans: SpanOfCluster[] = [];
  const ended: EndedPod[] = [];
  for (let first = 0; first < rows.length;) {
    const { source, object, cluster } = rows[first]!;
    let end = first;
    while (rows[end]?.source === source && rows[end]?.object === object) end += 1;
    const ofObject = rows.slice(first, end);
    spans.push(...changesOf(source, ofObject, now).map((span) => ({ ...span, cluster })));
    if (source === "workload_facts" && ofObject.every(({ isNew }) => isNew)) {
      const holding = holdingOf(JSON.parse(ofObject.at(-1)!.fact) as WorkloadFact);
      if (holding !== undefined && holding.until < now) ended.push({ ...holding, cluster });
    }
    first = end;
  }
  return { spans, ended };
}

const LABELLED = `
SELECT node, namespace, pod AS name, pod_uid AS uid,
  toFloat64(toUnixTimestamp64Milli(min(scraped_at))) AS first, toFloat64(toUnixTimestamp64Milli(max(scraped_at))) AS last
FROM gpu_samples
WHERE cluster = {cluster:String} AND scraped_at >= fromUnixTimestamp64Milli({since:Int64})
  AND concat(namespace, '/', pod) IN {names:Array(String)}
GROUP BY node, namespace, pod, pod_uid, toStartOfHour(scraped_at)`;

interface LabelledHour extends Pick<Holding, "node" | "namespace" | "name" | "uid"> {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads the times after the ends of pods in which samples have their labels, and no other pod explains the labels. Such a label has counted
 * as an unknown pod. Fails with a `StoreError`.
 */
async function labelledHours(store: StoreClient, ended: readonly EndedPod[]): Promise<readonly SpanOfCluster[]> {
  const spans: SpanOfCluster[] = [];
  for (const [cluster, pods] of groupedBy(ended, (pod) => pod.cluster)) {
    const ends = groupedBy(pods, nameOf);
    const since = Math.min(...pods.map(({ until }) => until));
    const rows = await store.query<LabelledHour>(LABELLED, { cluster, since, names: [...ends.keys()] });
    const own = new Set(pods.map(({ uid }) => uid));
    const known = await readNamesakes(store, cluster, [...new Set(rows.map(nameOf))]);
    const others = groupedBy(
      known.filter(({ uid }) => !own.has(uid)),
      nameOf,
    );
    for (const row of rows) {
      const { node, uid, first, last } = row;
      const isAfter = ends.get(nameOf(row))!.some(({ until }) => last >= until);
      const isOthers = (other: Holding): boolean =>
        (uid === "" || uid === other.uid) && other.from <= first && (other.node === node || last < other.until);
      if (isAfter && others.get(nameOf(row))?.some(isOthers) !== true)
        spans.push({ cluster, from: first, until: last });
    }
  }
  return spans;
}

function nameOf({ namespace, name }: Pick<Holding, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

function changesOf(table: (typeof TABLES)[number], rows: readonly FactRow[], now: number): readonly ChangedSpan[] {
  const facts = rows.map(({ fact, isNew }) => ({ fact: JSON.parse(fact) as AnyFact, isNew }));
  const ordered = facts.toSorted((a, b) => compareFacts(a.fact, b.fact));
  if (table === "workload_facts") {
    const before = ordered.findLast(({ isNew }) => !isNew)?.fact as WorkloadFact | undefined;
    return podChanges(before, ordered.at(-1)!.fact as WorkloadFact, now);
  }
  return ordered.flatMap(({ fact, isNew }, index): readonly ChangedSpan[] => {
    if (!isNew) return [];
    const at = fact.end?.atMillis ?? fact.seenAtMillis;
    const next = ordered[index + 1]?.fact;
    const until = next === undefined ? now : Math.max(at, next.seenAtMillis);
    const since =
      table === "inventory_facts" ? saidSince(fact as InventoryFact, ordered[index - 1]?.fact as InventoryFact) : at;
    return [{ from: Math.min(at, since), until: Math.max(until, at + 1) }];
  });
}

type AnyFact = WorkloadFact | InventoryFact;

/** Returns the spans in which two facts of a pod differ for the meter; empty if they do not. */
export function podChanges(before: WorkloadFact | undefined, after: WorkloadFact, now: number): readonly ChangedSpan[] {
  const [old, held] = [before === undefined ? undefined : holdingOf(before), holdingOf(after)];
  if (held === undefined && old === undefined) return [];
  const from = Math.min(old?.from ?? Infinity, held?.from ?? Infinity);
  const until = Math.min(now, Math.max(old?.until ?? -Infinity, held?.until ?? -Infinity));
  if (old === undefined || held === undefined || before === undefined || describe(before) !== describe(after))
    return until > from ? [{ from, until }] : [];
  const pairs: readonly (readonly [number, number])[] = [
    [old.from, held.from],
    [old.until, held.until],
    [before.times.started ?? Infinity, after.times.started ?? Infinity],
  ];
  return pairs.flatMap(([one, other]) => {
    const [first, last] = [Math.min(one, other), Math.min(now, Math.max(one, other))];
    return first < last ? [{ from: first, until: last }] : [];
  });
}

/** Returns all fields of a fact that the meter uses, except its times. */
function describe({ node, namespace, name, asks, evidence, gang, labels, annotations, ...fact }: WorkloadFact): string {
  const { workload, type, queue, priorityClass } = fact;
  return JSON.stringify([
    [node, namespace, name, asks, evidence, gang],
    [labels, annotations, workload, type, queue, priorityClass],
  ]);
}

/** Returns since when a node's fact differs from the one before. */
function saidSince(fact: InventoryFact, before: InventoryFact | undefined): number {
  if (before === undefined || before.uid !== fact.uid) return fact.joined;
  const ready = ({ conditions }: InventoryFact) => conditions.find(({ type }) => type === "Ready");
  const isSameReady = ready(fact)?.status === ready(before)?.status;
  const isSameCordon = fact.cordonedSince === before.cordonedSince;
  return Math.min(
    isSameReady ? Infinity : (ready(fact)?.since ?? Infinity),
    isSameCordon ? Infinity : (fact.cordonedSince ?? Infinity),
  );
}

/** Reads the positions that the meter's latest run had read. */
async function meteredOffsets(store: StoreClient): Promise<ReadonlyMap<number, number>> {
  const rows = await store.query<{ partition: number; position: string }>(`
    SELECT each.1 AS partition, each.2 AS position
    FROM (SELECT arrayJoin(CAST(${ofLastRun("watermark")}, 'Array(Tuple(UInt32, UInt64))')) AS each
      FROM runs WHERE kind = 'usage')`);
  return new Map(rows.map(({ partition, position }) => [partition, Number(position)]));
}
