/** A table or view that a reader may read, whole or by columns. */
export interface ReaderGrant {
  readonly table: string;
  /** All columns if absent. */
  readonly columns?: readonly string[];
}

/** The current runs and closings. The views of published rows look them up. The amounts are left out. */
const WHICH_RUNS: readonly ReaderGrant[] = [
  { table: "advice_runs", columns: ["run_id", "from_at", "until_at", "made_at"] },
  {
    table: "runs",
    columns: [
      "kind",
      "cluster",
      "window_start",
      "window_end",
      "billing_period",
      "run_id",
      "generation",
      "published_at",
    ],
  },
  { table: "closed_runs" },
  { table: "closings", columns: ["billing_period", "close_id", "kind", "recorded_at"] },
  { table: "closed_periods" },
  { table: "charge_runs" },
  { table: "charge_sum_parts" },
  { table: "charge_parts" },
];

/** Tables in which each row is of one team, in the column `team`. */
export const TABLES_OF_TEAMS: readonly string[] = [
  "advice_cards",
  "charge_sums",
  "charge_workload_sums",
  "charges",
  "serving_charges",
  "statements",
];

/**
 * The grants for a reader of one team: the team's rows of charges and statements. No other table has a team, so no other table could be
 * limited to one. Samples, usage, facts and queues show the work of all teams; closings show the amounts of all teams.
 */
export const TEAM_GRANTS: readonly ReaderGrant[] = [
  ...TABLES_OF_TEAMS.map((table) => ({ table })),
  { table: "advice_cards_published" },
  { table: "charges_published" },
  { table: "charges_summed" },
  { table: "serving_charges_published" },
  { table: "workload_charges_summed" },
  ...WHICH_RUNS,
];

/**
 * The grants for a reader of all teams: the sources of dashboards and reports. A view reads its tables with the rights of the user who
 * queries it (SQL SECURITY INVOKER, ClickHouse's default), so the tables are in this list too.
 */
export const READER_GRANTS: readonly ReaderGrant[] = [
  "advice_cards",
  "advice_cards_published",
  "advice_runs",
  "breaches",
  "charge_parts",
  "charge_runs",
  "charge_sum_parts",
  "charge_sums",
  "charge_workload_sums",
  "charges",
  "charges_published",
  "charges_summed",
  "closed_periods",
  "closed_runs",
  "closings",
  "cluster_facts",
  "cluster_history",
  "gang_members",
  "gpu_5m",
  "gpu_5m_published",
  "gpu_hours",
  "gpu_hours_published",
  "gpu_samples",
  "gpu_slots",
  "inventory",
  "inventory_facts",
  "machines",
  "pending_pods",
  "queue_history",
  "quota_history",
  "runs",
  "scrapes",
  "serving_charges",
  "serving_charges_published",
  "serving_hours",
  "serving_hours_published",
  "serving_samples",
  "serving_scrapes",
  "statements",
  "usage_hours",
  "usage_hours_published",
  "workload_charges_summed",
  "workload_facts",
  "workloads",
].map((table) => ({ table }));

/** Tables that no reader may read: access rights, the audit trail, and the program's own state. */
export const NOT_FOR_READERS: readonly string[] = [
  "access_tokens",
  "advice_marks",
  "audit",
  "audit_trail",
  "deliveries",
  "export_lines",
  "export_lines_valid",
  "invoice_exports",
  "invoice_exports_valid",
  "invoiced_hours",
  "invoiced_hours_published",
  "label_proofs",
  "meter_plan",
  "migrations",
];
