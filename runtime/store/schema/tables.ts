import { CHARGE_COLUMNS, type ChargeColumn } from "./charges.ts";
import { FACT_COLUMNS } from "./facts.ts";
import { EXPORT_LINE_COLUMNS, INVOICED_HOUR_COLUMNS } from "./invoices.ts";
import { PLAN_COLUMNS, PROOF_COLUMNS } from "./meter.ts";
import { RECORD_TABLES } from "./records.ts";
import { ROLLUP_TYPES } from "./rollups.ts";
import { RUN_ID } from "./runs.ts";
import { SAMPLE_TYPES } from "./samples.ts";
import { SCRAPE_COLUMNS } from "./scrapes.ts";
import {
  SERVING_CHARGE_COLUMNS,
  SERVING_HOUR_COLUMNS,
  SERVING_SAMPLE_COLUMNS,
  SERVING_SCRAPE_COLUMNS,
} from "./serving.ts";
import type { Column } from "./table.ts";
import { USAGE_COLUMNS } from "./usage.ts";

/** The ClickHouse types of a table's columns, by column name. */
type ColumnTypes = Readonly<Record<string, string>>;

function typesOf(columns: readonly Column[]): ColumnTypes {
  return Object.fromEntries(columns.map(({ name, type }) => [name, type.sql]));
}

function sumsOf(...kinds: readonly ChargeColumn["sums"][]): ColumnTypes {
  return {
    run_id: "UUID",
    part_id: "UUID",
    ...typesOf(CHARGE_COLUMNS.filter(({ sums }) => sums !== undefined && kinds.includes(sums))),
    is_held: "Bool",
    lines: "UInt64",
    dearest: "Nullable(Decimal(38, 9))",
  };
}

/** Every table of the store: the meaning of a row, and its columns. */
export const TABLES: Readonly<Record<string, { readonly row: string; readonly columns: ColumnTypes }>> = {
  scrapes: { row: "an attempt of a collector to read a page, failed ones too", columns: typesOf(SCRAPE_COLUMNS) },
  gpu_samples: { row: "a GPU, an instance or a sharing pod in one scrape", columns: SAMPLE_TYPES },
  serving_scrapes: {
    row: "an attempt of a collector to read an engine's or a gateway's page, failed ones too",
    columns: typesOf(SERVING_SCRAPE_COLUMNS),
  },
  serving_samples: {
    row: "a model, part or tenant of an engine's or a gateway's page in one scrape",
    columns: typesOf(SERVING_SAMPLE_COLUMNS),
  },
  gpu_5m: { row: "five minutes of a device under one holder", columns: { run_id: "UUID", ...ROLLUP_TYPES } },
  gpu_hours: { row: "an hour of a device under one holder", columns: { run_id: "UUID", ...ROLLUP_TYPES } },
  workload_facts: { row: "a state of a pod", columns: typesOf(FACT_COLUMNS.workload_facts) },
  inventory_facts: { row: "a state of a node", columns: typesOf(FACT_COLUMNS.inventory_facts) },
  cluster_facts: {
    row: "a state of a namespace, quota, queue, gang, claim or slice",
    columns: typesOf(FACT_COLUMNS.cluster_facts),
  },
  label_proofs: { row: "a pod that a label has shown on a device", columns: typesOf(PROOF_COLUMNS) },
  meter_plan: { row: "temporary data of the meter", columns: typesOf(PLAN_COLUMNS) },
  usage_hours: {
    row: "a part of an hour in which a GPU, its holders and its machine stay the same",
    columns: typesOf([RUN_ID, ...USAGE_COLUMNS]),
  },
  charges: { row: "a line of a bill under one policy", columns: typesOf([RUN_ID, ...CHARGE_COLUMNS]) },
  serving_hours: {
    row: "an hour of a pod that serves, of a page of it, or of a model or tenant of a page",
    columns: typesOf([RUN_ID, ...SERVING_HOUR_COLUMNS]),
  },
  serving_charges: {
    row: "a part of a service's charges of an hour: a phase of a model, for a tenant",
    columns: typesOf([RUN_ID, ...SERVING_CHARGE_COLUMNS]),
  },
  charge_sums: { row: "charges of an hour or a day, summed over workloads", columns: sumsOf("key", "amount") },
  charge_workload_sums: {
    row: "charges of an hour or a day, summed for each workload",
    columns: sumsOf("key", "workload", "amount"),
  },
  charge_sum_parts: {
    row: "a run with complete sums",
    columns: { run_id: "UUID", part_id: "UUID", window_start: "DateTime('UTC')", runs: "Array(UUID)" },
  },
  export_lines: { row: "a kept line of a version of a provider's export", columns: typesOf(EXPORT_LINE_COLUMNS) },
  invoice_exports: { row: "a version of an export that was read", columns: RECORD_TABLES.invoice_exports },
  invoiced_hours: {
    row: "an hour of a node, or of another cost, by a provider's export",
    columns: typesOf([RUN_ID, ...INVOICED_HOUR_COLUMNS]),
  },
  runs: { row: "a run of the ledger over one hour of a cluster", columns: RECORD_TABLES.runs },
  breaches: { row: "a sum of charges that was not exact", columns: RECORD_TABLES.breaches },
  closings: { row: "a closing of a billing period, or a dry run of one", columns: RECORD_TABLES.closings },
  closed_runs: { row: "a run that a closing has frozen", columns: RECORD_TABLES.closed_runs },
  statements: { row: "a team and cost center in a closed period", columns: RECORD_TABLES.statements },
  audit: { row: "something that a person did to money", columns: RECORD_TABLES.audit },
  access_tokens: { row: "a token that was made or revoked", columns: RECORD_TABLES.access_tokens },
  deliveries: { row: "a step in the delivery of a report", columns: RECORD_TABLES.deliveries },
  advice_runs: { row: "a computation of all cards of a window", columns: RECORD_TABLES.advice_runs },
  advice_cards: { row: "a card of the advice with its saving", columns: RECORD_TABLES.advice_cards },
  advice_marks: { row: "a person's decision about a card", columns: RECORD_TABLES.advice_marks },
  migrations: {
    row: "a migration that was applied",
    columns: { name: "String", sha256: "String", applied_at: "DateTime64(3, 'UTC')" },
  },
};
