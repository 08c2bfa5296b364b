import { columnsOf, type RowOf } from "./table.ts";
import { bool, longText, manyTexts, moment, nullableMoment, text, uint32, uint64, wideUint64 } from "./types.ts";

/** The sort order of the facts of one object. The last fact is the newest. */
export const FACT_ORDER = "epoch, version, ended, seen_at";

/** Returns an aggregate over the facts of one object: the value of the newest fact. */
export function ofNewestFact(expression: string): string {
  return `argMax(${expression}, (${FACT_ORDER}))`;
}

/** The columns of every fact: its cluster and object, its order, and its position on the bus. */
const OF_FACT = {
  cluster: text,
  epoch: uint64,
  version: wideUint64,
  ended: bool,
  seen_at: moment,
  at: moment,
  inferred: bool,
  uid: manyTexts,
  fact: longText,
  partition: uint32,
  position: uint64,
};

const OF_WORKLOAD = {
  ...OF_FACT,
  namespace: text,
  pod: manyTexts,
  node: text,
  workload_kind: text,
  workload: manyTexts,
  workload_type: text,
  phase: text,
  queue: text,
  priority_class: text,
  created_at: moment,
  scheduled_at: nullableMoment,
  started_at: nullableMoment,
  finished_at: nullableMoment,
};

const OF_INVENTORY = {
  ...OF_FACT,
  node: text,
  joined_at: moment,
  gpus: uint32,
  model: text,
  instance_type: text,
  region: text,
  zone: text,
  pool: text,
  capacity_type: text,
  ready: bool,
  cordoned_at: nullableMoment,
};

const OF_CLUSTER = { ...OF_FACT, kind: text, namespace: text, name: manyTexts };

/** A value that a row may lack is NULL in the table. */
type Row<Of extends Parameters<typeof columnsOf>[0]> = Omit<RowOf<Of>, "partition" | "position">;
type Lacking<Of, Names extends keyof Of> = Omit<Of, Names> & { readonly [Name in Names]: Of[Name] | undefined };

/** Rows of the facts tables, without their position on the bus. */
export interface FactRows {
  readonly workload_facts: Lacking<Row<typeof OF_WORKLOAD>, "scheduled_at" | "started_at" | "finished_at">;
  readonly inventory_facts: Lacking<Row<typeof OF_INVENTORY>, "cordoned_at">;
  readonly cluster_facts: Row<typeof OF_CLUSTER>;
}

/** The columns of the facts tables. */
export const FACT_COLUMNS = {
  workload_facts: columnsOf(OF_WORKLOAD),
  inventory_facts: columnsOf(OF_INVENTORY),
  cluster_facts: columnsOf(OF_CLUSTER),
} satisfies Readonly<Record<keyof FactRows, unknown>>;
