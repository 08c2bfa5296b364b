import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { FactEnd, FactOrigin } from "../../domain/fact.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import {
  decodeClusterFact,
  decodeInventory,
  decodeWorkload,
  FACT_SCHEMA_VERSION,
} from "../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, FACTS_GROUP, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import type { Bus, ReceivedMessage } from "../../runtime/bus/bus.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { FACT_COLUMNS, type FactRows } from "../../runtime/store/schema/facts.ts";
import { createBlocks, namesOf } from "../../runtime/store/schema/table.ts";
import { insertOrHalve } from "./batch.ts";
import type { IntakeEvents } from "./flusher.ts";
import { startIntake, type Intake } from "./intake.ts";
import type { Outcome } from "./steps/outcome.ts";

const TABLES = Object.keys(FACT_COLUMNS) as readonly (keyof FactRows)[];

/** A fact for the store: its table and its row. */
export type FactRow = {
  readonly [Table in keyof FactRows]: { readonly table: Table; readonly row: FactRows[Table] };
}[keyof FactRows];

/** Starts the intake that stores facts from the bus in their tables, as a member of the group of processors. Tombstones are dropped. */
export function startFacts(options: {
  readonly bus: Bus;
  readonly store: StoreClient;
  readonly flushMillis: number;
  readonly flushRows: number;
  readonly events: IntakeEvents<FactRow>;
  readonly now: () => number;
}): Promise<Intake> {
  const { store, ...rest } = options;
  return startIntake<FactRow>({
    ...rest,
    group: FACTS_GROUP,
    topics: [WORKLOADS_TOPIC, INVENTORY_TOPIC, CLUSTER_TOPIC],
    schemaVersion: FACT_SCHEMA_VERSION,
    pipeline: readFact,
    rowsOf: () => 1,
    insert: (items) =>
      insertOrHalve(items, (some) =>
        insertFacts(
          store,
          some.map(({ value, message: { partition, offset } }) => ({ value, partition, offset })),
        ),
      ),
  });
}

/** Inserts facts with their bus positions. A fact without a position gets 0. Fails with a `StoreError`. */
export async function insertFacts(
  store: StoreClient,
  facts: readonly { readonly value: FactRow; readonly partition?: number; readonly offset?: number }[],
): Promise<void> {
  for (const table of TABLES) {
    const rows = createBlocks<object>(FACT_COLUMNS[table]);
    for (const { value, partition = 0, offset = 0 } of facts)
      if (value.table === table) rows.write({ ...value.row, partition, position: offset });
    if (rows.count > 0) await store.insertRows(table, namesOf(FACT_COLUMNS[table]), rows.take());
  }
}

/** Returns the row of a message of a facts topic, or the reason why the message is dropped or becomes a dead letter. */
export function readFact({
  topic,
  value,
  intact,
}: Pick<ReceivedMessage, "topic" | "value" | "intact">): Outcome<FactRow> {
  if (value === null) return { kind: "drop", reason: "tombstone" };
  if (!intact)
    return { kind: "dead-letter", reason: "broken-checksum", cause: "the checksum does not match the value" };
  const read = READERS[topic]!(value);
  return "invalid" in read
    ? { kind: "dead-letter", reason: "not-a-fact", cause: read.invalid }
    : { kind: "ok", value: read };
}

const READERS: Readonly<Record<string, (bytes: Uint8Array) => FactRow | { readonly invalid: string }>> = {
  [WORKLOADS_TOPIC](bytes) {
    const fact = decodeWorkload(bytes);
    return "invalid" in fact ? fact : { table: "workload_facts", row: workloadRow(fact) };
  },
  [INVENTORY_TOPIC](bytes) {
    const fact = decodeInventory(bytes);
    return "invalid" in fact ? fact : { table: "inventory_facts", row: inventoryRow(fact) };
  },
  [CLUSTER_TOPIC](bytes) {
    const fact = decodeClusterFact(bytes);
    return "invalid" in fact ? fact : { table: "cluster_facts", row: clusterRow(fact) };
  },
};

function workloadRow(fact: WorkloadFact): FactRows["workload_facts"] {
  return {
    ...orderOf(fact),
    uid: fact.uid,
    namespace: fact.namespace,
    pod: fact.name,
    node: fact.node,
    workload_kind: fact.workload.kind,
    workload: fact.workload.name,
    workload_type: fact.type,
    phase: fact.phase,
    queue: fact.queue ?? "",
    priority_class: fact.priorityClass ?? "",
    created_at: fact.times.created,
    scheduled_at: fact.times.scheduled,
    started_at: fact.times.started,
    finished_at: fact.times.finished,
    fact: JSON.stringify(fact),
  };
}

/** The limit of the 32-bit column. The JSON of the fact in the same row has the full count. */
const MOST_GPUS = 2 ** 32 - 1;

function inventoryRow(fact: InventoryFact): FactRows["inventory_facts"] {
  const ready = fact.conditions.find(({ type }) => type === "Ready");
  return {
    ...orderOf(fact),
    node: fact.node,
    uid: fact.uid,
    joined_at: fact.joined,
    gpus: Math.min(
      MOST_GPUS,
      fact.gpus.reduce((sum, { count }) => sum + count, 0),
    ),
    model: fact.gpus.find(({ model }) => model !== undefined)?.model ?? "",
    instance_type: fact.instanceType ?? "",
    region: fact.region ?? "",
    zone: fact.zone ?? "",
    pool: fact.pool ?? "",
    capacity_type: fact.capacityType ?? "",
    ready: ready?.status === "True",
    cordoned_at: fact.cordonedSince,
    fact: JSON.stringify(fact),
  };
}

function clusterRow(fact: ClusterFact): FactRows["cluster_facts"] {
  const { kind, namespace, name, uid } = fact;
  return { ...orderOf(fact), kind, namespace, name, uid, fact: JSON.stringify(fact) };
}

/** Returns the leading columns of every fact's row: its cluster, and its order among the facts of its object. */
function orderOf(fact: FactOrigin & { readonly end?: FactEnd }) {
  return {
    cluster: fact.cluster,
    epoch: fact.epoch,
    version: /^\d{1,19}$/.test(fact.resourceVersion) ? BigInt(fact.resourceVersion) : 0n,
    ended: fact.end !== undefined,
    seen_at: fact.seenAtMillis,
    at: fact.end?.atMillis ?? fact.seenAtMillis,
    inferred: fact.end?.inferred === true,
  };
}
