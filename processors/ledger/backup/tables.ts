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
  { name: "workload_facts", time: "seen_at", rows: ALL, why: "the pods with their devices and times" },
  { name: "inventory_facts", time: "seen_at", rows: ALL, why: "the machines" },
  { name: "cluster_facts", time: "seen_at", rows: ALL, why: "namespaces, quotas, queues and claims" },
  {
    name: "label_proofs",
    time: "seen_at",
    rows: ALL,
    why: "the devices that labels proved, from samples that expire",
  },
  { name: "gpu_hours", time: "bucket", rows: OF_RUNS, why: "hourly rollups; their samples expire" },
  { name: "usage_hours", time: "from_at", rows: OF_RUNS, why: "the metered usage, the base of corrections" },
  { name: "serving_hours", time: "hour", rows: OF_RUNS, why: "the work of engines; their samples expire" },
  {
    name: "export_lines",
    time: "from_at",
    rows: "version IN (SELECT version FROM invoice_exports_valid)",
    why: "the kept lines of providers' exports, which providers keep for some months",
  },
  { name: "invoice_exports", time: "read_at", rows: ALL, why: "the versions of the exports" },
  { name: "invoiced_hours", time: "hour", rows: OF_RUNS, why: "the cost of exports by the hour" },
  {
    name: "serving_charges",
    time: "hour",
    rows: OF_RUNS,
    why: "the charges of services by model and tenant, open and closed",
  },
  { name: "charges", time: "from_at", rows: OF_RUNS, why: "all charges, open and closed, with corrections" },
  { name: "access_tokens", time: "at", rows: ALL, why: "tokens, as hashes" },
  { name: "deliveries", time: "at", rows: ALL, why: "the deliveries, so that nothing is sent twice" },
  {
    name: "advice_cards",
    time: "until_at",
    rows: ALL,
    why: "the cards, so that promised savings can be followed",
  },
  { name: "advice_runs", time: "until_at", rows: ALL, why: "the runs that made the cards" },
  { name: "advice_marks", time: "at", rows: ALL, why: "the decisions about cards" },
  { name: "audit", time: "at", rows: ALL, why: "the changes that people made to money" },
  {
    name: "statements",
    time: "billing_period",
    rows: OF_CLOSED,
    why: "the statements of closed periods, with their hashes",
  },
  { name: "closed_runs", time: "frozen_at", rows: OF_CLOSED, why: "the runs that closings froze" },
  { name: "closings", time: "recorded_at", rows: "close_id IN {closings:Array(UUID)}", why: "closings and dry runs" },
  { name: "runs", time: "window_start", rows: `kind = 'election' OR ${OF_RUNS}`, why: "the current runs" },
];

/** The tables that are computed again or that expire by themselves. */
export const LEFT_OUT: readonly LeftOutTable[] = [
  { name: "scrapes", why: "raw; it expires after `store.rawDays`" },
  { name: "gpu_samples", why: "raw; it expires after `store.rawDays`" },
  { name: "serving_scrapes", why: "raw; it expires after `store.rawDays`" },
  { name: "serving_samples", why: "raw; it expires after `store.rawDays`" },
  { name: "gpu_5m", why: "it expires after `store.fiveMinuteDays`; its hours are backed up" },
  { name: "meter_plan", why: "temporary data of the meter" },
  { name: "breaches", why: "found again when the hour is charged again" },
  { name: "charge_sums", why: "sums of charges, computed again for reports" },
  { name: "charge_workload_sums", why: "sums of charges, computed again for reports" },
  { name: "charge_sum_parts", why: "the complete ones of these sums" },
  { name: "migrations", why: "written when the tables are created" },
];
