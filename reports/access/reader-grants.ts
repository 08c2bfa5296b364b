/** A table or view that somebody may read, whole or by columns. */
export interface ReaderGrant {
  readonly table: string;
  /** All of them where it is absent. */
  readonly columns?: readonly string[];
}

/** The runs and closings that count: what views of published rows look up, without what they come to. */
const WHICH_RUNS: readonly ReaderGrant[] = [
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

/** What has rows of one team each, in the column `team`. */
export const TABLES_OF_TEAMS: readonly string[] = ["charge_sums", "charge_workload_sums", "charges", "statements"];

/**
 * What a reader of one team may read: its rows of charges and statements. Nothing else names a team, so that nothing else could be cut
 * to one: samples, usage, facts and queues tell what everybody does, closings what everybody pays.
 */
export const TEAM_GRANTS: readonly ReaderGrant[] = [
  ...TABLES_OF_TEAMS.map((table) => ({ table })),
  { table: "charges_published" },
  { table: "charges_summed" },
  { table: "workload_charges_summed" },
  ...WHICH_RUNS,
];

/**
 * What a reader of all teams may read: what dashboards and reports are made of. A view reads its tables with the rights of whoever asks
 * (SQL SECURITY INVOKER, ClickHouse's default), so that these are named too.
 */
export const READER_GRANTS: readonly ReaderGrant[] = [
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
  "statements",
  "usage_hours",
  "usage_hours_published",
  "workload_charges_summed",
  "workload_facts",
  "workloads",
].map((table) => ({ table }));

/** What no reader may read: who may see what, who did what, and what the program keeps for itself. */
export const NOT_FOR_READERS: readonly string[] = [
  "access_tokens",
  "audit",
  "audit_trail",
  "deliveries",
  "label_proofs",
  "meter_plan",
  "migrations",
];
