import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { DropReason } from "../bus/spool.ts";

/** One metric of the program's own. */
export interface MetricDefinition {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
  /** Values of its one label that are there from the start at 0, so that the first increase shows. */
  readonly known?: readonly string[];
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const FRESHNESS_SECONDS = [0.5, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 60, 120, 300, 900, 3600, 86_400];

/** Every metric there is. docs/metrics.md is held to this table, and this table to what is exported. */
export const METRIC_DEFINITIONS = {
  targets: {
    name: "gpu_ledger_targets",
    type: "gauge",
    help: "Targets of a job that this collector scrapes.",
    labels: ["scrape_job"],
  },
  scrapes: {
    name: "gpu_ledger_scrapes_total",
    type: "counter",
    help: "Scrape attempts, by outcome: ok, or the reason of the failure.",
    labels: ["scrape_job", "outcome"],
  },
  scrapeSeconds: {
    name: "gpu_ledger_scrape_duration_seconds",
    type: "histogram",
    help: "Time from the request to the last byte of a page.",
    labels: ["scrape_job"],
    buckets: SECONDS,
  },
  scrapeBytes: {
    name: "gpu_ledger_scrape_bytes_total",
    type: "counter",
    help: "Bytes of pages received.",
    labels: ["scrape_job"],
  },
  scrapeValues: {
    name: "gpu_ledger_scrape_values_total",
    type: "counter",
    help: "Values read from pages, by the way: template, or full parse.",
    labels: ["way"],
  },
  scrapesSkipped: {
    name: "gpu_ledger_scrapes_skipped_total",
    type: "counter",
    help: "Scrapes that were due while the one before still ran.",
    labels: ["scrape_job"],
  },
  linesDropped: {
    name: "gpu_ledger_lines_dropped_total",
    type: "counter",
    help: "Lines and values of pages that were left out, by reason.",
    labels: ["reason"],
  },
  discoveryErrors: {
    name: "gpu_ledger_discovery_errors_total",
    type: "counter",
    help: "Looks for targets that failed; the targets known last are kept.",
    labels: ["scrape_job"],
  },
  watching: {
    name: "gpu_ledger_kubernetes_watching",
    type: "gauge",
    help: "1 where this collector is the elected watcher of the cluster.",
    labels: ["cluster"],
  },
  kubernetesObjects: {
    name: "gpu_ledger_kubernetes_objects",
    type: "gauge",
    help: "Objects that this collector follows, by resource as kubectl names it.",
    labels: ["cluster", "resource"],
  },
  kubernetesEvents: {
    name: "gpu_ledger_kubernetes_events_total",
    type: "counter",
    help: "Events of watches, by type.",
    labels: ["cluster", "resource", "type"],
  },
  kubernetesLists: {
    name: "gpu_ledger_kubernetes_lists_total",
    type: "counter",
    help: "Lists that were read in full.",
    labels: ["cluster", "resource"],
  },
  kubernetesWatchEnds: {
    name: "gpu_ledger_kubernetes_watch_ends_total",
    type: "counter",
    help: "Watches that ended: timeout as the server has it, expired (a new list follows), garbage.",
    labels: ["cluster", "resource", "why"],
  },
  kubernetesErrors: {
    name: "gpu_ledger_kubernetes_errors_total",
    type: "counter",
    help: "Requests to an API server that failed and are tried again, by what went wrong.",
    labels: ["cluster", "resource", "code"],
  },
  kubernetesForbidden: {
    name: "gpu_ledger_kubernetes_forbidden",
    type: "gauge",
    help: "1 for what the collector may not do; the log and gpu-ledger check say what reports lack.",
    labels: ["cluster", "resource", "verb"],
  },
  kubernetesRemarks: {
    name: "gpu_ledger_kubernetes_remarks_total",
    type: "counter",
    help: "Odd things about objects that became facts, by reason; gpu-ledger inspect tells them of an object.",
    labels: ["cluster", "reason"],
  },
  clockSkew: {
    name: "gpu_ledger_kubernetes_clock_skew_seconds",
    type: "gauge",
    help: "How far the API server's clock is ahead of the collector's; differences of about two seconds count as none.",
    labels: ["cluster"],
  },
  factsWaiting: {
    name: "gpu_ledger_facts_waiting",
    type: "gauge",
    help: "Facts that the bus has not acknowledged yet, in memory and in the spool.",
    labels: ["topic"],
  },
  factsSent: {
    name: "gpu_ledger_facts_sent_total",
    type: "counter",
    help: "Facts that the bus has acknowledged, tombstones included.",
    labels: ["topic"],
  },
  templateBytes: {
    name: "gpu_ledger_template_bytes",
    type: "gauge",
    help: "Memory that page templates take.",
    labels: [],
  },
  templatesRefused: {
    name: "gpu_ledger_templates_refused_total",
    type: "counter",
    help: "Templates that the memory for them had no room for; such pages are parsed in full.",
    labels: [],
  },
  spoolMessages: {
    name: "gpu_ledger_spool_messages",
    type: "gauge",
    help: "Messages that wait for the bus, in memory and on disk.",
    labels: [],
  },
  spoolBytes: { name: "gpu_ledger_spool_bytes", type: "gauge", help: "Bytes of the messages that wait.", labels: [] },
  messagesSent: {
    name: "gpu_ledger_messages_sent_total",
    type: "counter",
    help: "Messages that the bus acknowledged.",
    labels: [],
  },
  sendErrors: {
    name: "gpu_ledger_send_errors_total",
    type: "counter",
    help: "Attempts to send that failed; what failed waits in the spool.",
    labels: [],
  },
  messagesDropped: {
    name: "gpu_ledger_messages_dropped_total",
    type: "counter",
    help: "Messages that were given up before they reached the bus, by reason.",
    labels: ["reason"],
    known: ["spool-full", "memory-full", "too-large", "damaged"] satisfies DropReason[],
  },
  messages: {
    name: "gpu_ledger_messages_total",
    type: "counter",
    help: "Messages that a processor took from the bus, by outcome: stored, or the reason why not.",
    labels: ["outcome"],
    known: ["stored", "tombstone", "broken-checksum", "not-a-scrape", "not-a-fact", "rejected-by-store"],
  },
  facts: {
    name: "gpu_ledger_facts_stored_total",
    type: "counter",
    help: "Facts about pods, nodes and other objects of clusters, taken into their history.",
    labels: ["table"],
  },
  rows: { name: "gpu_ledger_rows_stored_total", type: "counter", help: "Rows inserted into the store.", labels: [] },
  rowsJoined: {
    name: "gpu_ledger_rows_joined_total",
    type: "counter",
    help: "Rows of devices stored, by the evidence that tells who holds them; none where nobody is known to.",
    labels: ["evidence"],
  },
  factsPassedOver: {
    name: "gpu_ledger_facts_passed_over_total",
    type: "counter",
    help: "Messages that should tell the join who holds what and do not, by reason.",
    labels: ["reason"],
  },
  insertSeconds: {
    name: "gpu_ledger_insert_duration_seconds",
    type: "histogram",
    help: "Time of one insert with its commit.",
    labels: [],
    buckets: SECONDS,
  },
  freshness: {
    name: "gpu_ledger_freshness_seconds",
    type: "histogram",
    help: "Age of a scrape when it could be asked for: from scrape to stored.",
    labels: [],
    buckets: FRESHNESS_SECONDS,
  },
  lag: {
    name: "gpu_ledger_lag_messages",
    type: "gauge",
    help: "Messages of a partition that are not stored yet.",
    labels: ["partition"],
  },
  partitionsPaused: {
    name: "gpu_ledger_partitions_paused",
    type: "gauge",
    help: "Partitions that wait for a newer release of this program.",
    labels: [],
  },
  rowsWaiting: { name: "gpu_ledger_rows_waiting", type: "gauge", help: "Rows that wait for an insert.", labels: [] },
  messagesLost: {
    name: "gpu_ledger_messages_lost_total",
    type: "counter",
    help: "Messages that retention removed from the bus before they were stored.",
    labels: [],
  },
  storeRetries: {
    name: "gpu_ledger_store_retries_total",
    type: "counter",
    help: "Inserts and commits that failed and were tried again.",
    labels: [],
  },
  leader: {
    name: "gpu_ledger_leader",
    type: "gauge",
    help: "1 where this processor leads: it makes the rollups and the ledger.",
    labels: [],
  },
  pendingPods: {
    name: "gpu_ledger_pending_pods",
    type: "gauge",
    help: "Pods that want GPUs and wait for a node, by Kubernetes' reason. Told by the leader.",
    labels: ["cluster", "team", "queue", "priority_class", "reason"],
  },
  pendingDevices: {
    name: "gpu_ledger_pending_devices",
    type: "gauge",
    help: "GPUs, instances or shares of them that pending pods ask for.",
    labels: ["cluster", "team", "queue", "priority_class", "reason"],
  },
  pendingOldest: {
    name: "gpu_ledger_pending_oldest_seconds",
    type: "gauge",
    help: "How long the pod has waited that waits longest.",
    labels: ["cluster", "team", "queue", "priority_class", "reason"],
  },
  gangsHolding: {
    name: "gpu_ledger_gangs_holding",
    type: "gauge",
    help: "Gangs of which some members hold GPUs while others have never been bound.",
    labels: ["cluster", "team"],
  },
  gangDevices: {
    name: "gpu_ledger_gangs_holding_devices",
    type: "gauge",
    help: "GPUs, instances or shares of them that such gangs hold.",
    labels: ["cluster", "team"],
  },
  quotaDevices: {
    name: "gpu_ledger_quota_devices",
    type: "gauge",
    help: "What a ResourceQuota grants of a GPU resource (hard), and what is used of it.",
    labels: ["cluster", "namespace", "quota", "resource", "state"],
  },
  queueDevices: {
    name: "gpu_ledger_queue_devices",
    type: "gauge",
    help: "What a queue grants of a GPU resource (quota), what was admitted, and what of that was borrowed.",
    labels: ["cluster", "kind", "namespace", "queue", "resource", "state"],
  },
  runSeconds: {
    name: "gpu_ledger_run_duration_seconds",
    type: "histogram",
    help: "Time from the beginning of a run of one window to its publication.",
    labels: ["kind"],
    buckets: SECONDS,
  },
  runs: { name: "gpu_ledger_runs_total", type: "counter", help: "Runs published, by kind.", labels: ["kind"] },
  runsDropped: {
    name: "gpu_ledger_runs_dropped_total",
    type: "counter",
    help: "Runs whose rows were dropped because a better one had been published an hour before.",
    labels: [],
  },
  runErrors: {
    name: "gpu_ledger_run_errors_total",
    type: "counter",
    help: "Elections, looks for changed windows and runs that failed and are tried again.",
    labels: [],
  },
  windowsDirty: {
    name: "gpu_ledger_windows_dirty",
    type: "gauge",
    help: "Windows whose input has changed since their last published run.",
    labels: [],
  },
  teamMonthCost: {
    name: "gpu_ledger_team_month_cost",
    type: "gauge",
    help: "Effective cost of a team in the UTC month that runs, in the book's currency, under the billing policy.",
    labels: ["team"],
  },
  teamBurnRate: {
    name: "gpu_ledger_team_cost_per_hour",
    type: "gauge",
    help: "Effective cost of a team for an hour, as the last 24 hours were.",
    labels: ["team"],
  },
  teamForecast: {
    name: "gpu_ledger_team_month_forecast",
    type: "gauge",
    help: "Effective cost of a team for the whole month, if it goes on as the last 24 hours did.",
    labels: ["team"],
  },
  invariantBreaches: {
    name: "gpu_ledger_invariant_breaches_total",
    type: "counter",
    help: "GPUs whose charges did not sum to what they cost: such a run is not published.",
    labels: [],
  },
  periodsOverdue: {
    name: "gpu_ledger_periods_overdue",
    type: "gauge",
    help: "Billing periods whose closing date has come and that nobody has closed.",
    labels: [],
  },
  unpricedGpuHours: {
    name: "gpu_ledger_unpriced_gpu_hours",
    type: "gauge",
    help: "GPU-hours of the hour that was charged last for which no price is visible.",
    labels: ["cluster"],
  },
  refusedTeams: {
    name: "gpu_ledger_refused_teams",
    type: "gauge",
    help: "Workloads of the hour that was charged last whose team the register does not know.",
    labels: ["cluster"],
  },
  workloadInfo: {
    name: "gpu_workload_info",
    type: "gauge",
    help: "1 for each pod that holds GPUs on a node of this processor's partitions, with whose it is.",
    labels: ["cluster", "namespace", "pod", "uid", "team", "cost_centre", "workload", "workload_type", "queue"],
  },
  workloadCost: {
    name: "gpu_workload_cost_per_hour",
    type: "gauge",
    help: "What an hour of the GPUs that a pod holds costs now, by the price book, without power. The ledger charges exactly.",
    labels: ["cluster", "namespace", "pod", "currency"],
  },
  nodeInventory: {
    name: "gpu_node_inventory_gpus",
    type: "gauge",
    help: "GPUs that a node of this processor's partitions has by its own labels and capacity.",
    labels: ["cluster", "node"],
  },
  settledSeconds: {
    name: "gpu_ledger_settled_timestamp_seconds",
    type: "gauge",
    help: "The end of the last hour that every partition has passed by the settling delay; 0 where this processor does not lead.",
    labels: [],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

type MetricKey = keyof typeof METRIC_DEFINITIONS;
type InstanceOf<Type> = Type extends "counter"
  ? Counter
  : Type extends "gauge"
    ? Gauge
    : Type extends "histogram"
      ? Histogram
      : never;

/** The metrics of one process, each under its key. */
export type Metrics = { readonly [Key in MetricKey]: InstanceOf<(typeof METRIC_DEFINITIONS)[Key]["type"]> };

/** Registers every metric. Counters without labels and those of known labels start at 0, so that an increase from nothing shows. */
export function createMetrics(registry: Registry): Metrics {
  const entries = Object.entries(METRIC_DEFINITIONS).map(([key, definition]: [string, MetricDefinition]) => {
    const { name, help, labels, type, buckets, known = [] } = definition;
    const options = { name, help, labelNames: [...labels], registers: [registry] };
    if (type === "counter") {
      const counter = new Counter(options);
      for (const value of known) counter.inc({ [labels[0]!]: value }, 0);
      return [key, counter];
    }
    if (type === "gauge") return [key, new Gauge(options)];
    return [key, new Histogram({ ...options, buckets: [...(buckets ?? SECONDS)] })];
  });
  return Object.fromEntries(entries) as Metrics;
}
