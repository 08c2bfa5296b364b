/** A table that a backup includes. */
export interface BackedUpTable {
  readonly name: string;
  /** The time column by which the table is cut into files. */
  readonly time: string;
  /** The rows to include: an SQL condition over the parameters of {@link Counted}. */
  readonly rows: string;
  readonly why: string;
}

/** A table that a backup leaves out. */
export interface LeftOutTable {
  readonly name: string;
  readonly why: string;
}

const ALL = "true";
const OF_RUNS = "run_id IN {runs:Array(UUID)}";
const OF_CLOSED = "close_id IN {closed:Array(UUID)}";

/**
 * The tables that cannot be computed from other data, in the order of the restore. As in publishing, the tables that make rows valid come
 * after the rows, so that half a run or closing is never visible.
 */
export const BACKED_UP: readonly BackedUpTable[] = [
  { name: "workload_facts", time: "seen_at", rows: ALL, why: "which pods held what, and when" },
  { name: "inventory_facts", time: "seen_at", rows: ALL, why: "which machines there were" },
  { name: "cluster_facts", time: "seen_at", rows: ALL, why: "namespaces, quotas, queues and claims" },
  {
    name: "label_proofs",
    time: "seen_at",
    rows: ALL,
    why: "which device a label proved, found in samples that expire",
  },
  { name: "gpu_hours", time: "bucket", rows: OF_RUNS, why: "rollups by the hour: their samples expire, they stay" },
  { name: "usage_hours", time: "from_at", rows: OF_RUNS, why: "what the meter found, of which corrections are made" },
  { name: "charges", time: "from_at", rows: OF_RUNS, why: "every line of money, open and closed, with corrections" },
  { name: "access_tokens", time: "at", rows: ALL, why: "tokens, as hashes" },
  { name: "deliveries", time: "at", rows: ALL, why: "what was sent, so that nothing is sent twice" },
  { name: "audit", time: "at", rows: ALL, why: "what people did to money" },
  {
    name: "statements",
    time: "billing_period",
    rows: OF_CLOSED,
    why: "what closed periods came to, with their hashes",
  },
  { name: "closed_runs", time: "frozen_at", rows: OF_CLOSED, why: "which runs closings froze" },
  { name: "closings", time: "recorded_at", rows: "close_id IN {closings:Array(UUID)}", why: "closings and dry runs" },
  { name: "runs", time: "window_start", rows: `kind = 'election' OR ${OF_RUNS}`, why: "which runs count" },
];

/** The tables that are computed again or that expire by themselves. */
export const LEFT_OUT: readonly LeftOutTable[] = [
  { name: "scrapes", why: "raw; it expires after `store.rawDays`" },
  { name: "gpu_samples", why: "raw; it expires after `store.rawDays`" },
  { name: "gpu_5m", why: "it expires after `store.fiveMinuteDays`; the hours of it are backed up" },
  { name: "meter_plan", why: "what the meter works on while it runs" },
  { name: "breaches", why: "found again when the hour is charged again" },
  { name: "charge_sums", why: "sums of charges, made again by whoever reports" },
  { name: "charge_workload_sums", why: "sums of charges, made again by whoever reports" },
  { name: "charge_sum_parts", why: "which of these sums are whole" },
  { name: "migrations", why: "written when the tables are made" },
];
