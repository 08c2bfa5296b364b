import type { InsertOptions, StoreClient } from "../client.ts";

const TEXT = "LowCardinality(String)";
const LONG = "String";
const MOMENT = "DateTime64(3, 'UTC')";
const HOUR = "DateTime('UTC')";
const AMOUNT = "Decimal(38, 9)";

/** The totals of a closing: of one statement and of all statements. */
const TOTALS = {
  list_cost: AMOUNT,
  contracted_cost: AMOUNT,
  effective_cost: AMOUNT,
  correction_cost: AMOUNT,
  true_up_cost: AMOUNT,
  posted: AMOUNT,
  gpu_hours: AMOUNT,
  unpriced_gpu_hours: AMOUNT,
  held_gpu_hours: AMOUNT,
  unobserved_gpu_hours: AMOUNT,
  lines: "UInt64",
};

/** Tables whose rows are inserted one at a time as JSON: the ClickHouse type of each column. */
export const RECORD_TABLES = {
  runs: {
    kind: TEXT,
    cluster: TEXT,
    window_start: HOUR,
    window_end: HOUR,
    run_id: "UUID",
    generation: "UInt64",
    watermark: "Map(UInt32, UInt64)",
    scrapes: "UInt64",
    rows: "UInt64",
    hash: "UInt64",
    published_at: MOMENT,
    basis: LONG,
    billing_period: "Date",
  },
  invoice_exports: {
    source: TEXT,
    export: LONG,
    billing_period: "Date",
    version: "UUID",
    content: LONG,
    read_at: MOMENT,
    read_by: LONG,
    rows: "UInt64",
    kept: "UInt64",
    dropped: "Map(LowCardinality(String), UInt64)",
    from_at: MOMENT,
    until_at: MOMENT,
    document: LONG,
  },
  breaches: {
    cluster: TEXT,
    window_start: HOUR,
    policy: TEXT,
    node: TEXT,
    slot: LONG,
    what: TEXT,
    expected: LONG,
    found: LONG,
    found_at: MOMENT,
  },
  closings: {
    billing_period: "Date",
    close_id: "UUID",
    kind: TEXT,
    recorded_at: "DateTime64(6, 'UTC')",
    closed_at: MOMENT,
    closed_by: LONG,
    why: LONG,
    policy: TEXT,
    policies: LONG,
    rules_hash: LONG,
    price_book_hash: LONG,
    currency: TEXT,
    ...TOTALS,
    unowned_cost: AMOUNT,
    hash: LONG,
    document: LONG,
  },
  closed_runs: {
    close_id: "UUID",
    billing_period: "Date",
    kind: TEXT,
    cluster: TEXT,
    window_start: HOUR,
    run_id: "UUID",
    frozen_at: MOMENT,
  },
  statements: {
    close_id: "UUID",
    billing_period: "Date",
    team: TEXT,
    cost_center: TEXT,
    ...TOTALS,
    lines_hash: LONG,
    hash: LONG,
    document: LONG,
  },
  audit: { at: MOMENT, who: LONG, what: TEXT, why: LONG, subject: LONG, details: LONG },
  access_tokens: {
    id: LONG,
    what: TEXT,
    at: MOMENT,
    who: LONG,
    why: LONG,
    name: LONG,
    role: TEXT,
    teams: "Array(String)",
    hash: LONG,
    expires_at: `Nullable(${MOMENT})`,
  },
  deliveries: {
    delivery: TEXT,
    recipient: TEXT,
    from_at: MOMENT,
    until_at: MOMENT,
    due_at: MOMENT,
    what: TEXT,
    definition: LONG,
    attempt: "UInt32",
    claim: "UUID",
    at: MOMENT,
    lease_until: MOMENT,
    who: LONG,
    why: LONG,
    details: LONG,
  },
  advice_runs: {
    run_id: "UUID",
    from_at: MOMENT,
    until_at: MOMENT,
    made_at: MOMENT,
    basis: LONG,
    seconds: "Float64",
    cards: "UInt32",
    workloads: "UInt32",
    refusals: LONG,
  },
  advice_cards: {
    run_id: "UUID",
    until_at: MOMENT,
    id: LONG,
    kind: TEXT,
    team: TEXT,
    since_at: MOMENT,
    owner_saving: AMOUNT,
    freed_cost: AMOUNT,
    organization_saving: AMOUNT,
    organization_saving_if_freed_leave: AMOUNT,
    card: LONG,
  },
  advice_marks: { id: LONG, what: TEXT, at: MOMENT, until_at: `Nullable(${MOMENT})`, who: LONG, why: LONG },
} as const;

/** A row of one of {@link RECORD_TABLES}. An absent column gets its default. */
export type RecordOf<Table extends keyof typeof RECORD_TABLES> = Readonly<
  Partial<Record<keyof (typeof RECORD_TABLES)[Table], unknown>>
>;

/** Inserts records. Fails with a `StoreError`. */
export async function insertRecords<Table extends keyof typeof RECORD_TABLES>(
  store: Pick<StoreClient, "insertJson">,
  table: Table,
  rows: readonly RecordOf<Table>[],
  options?: InsertOptions,
): Promise<void> {
  if (rows.length > 0) await store.insertJson(table, rows, options);
}
