import type { AlertOptions } from "../options.ts";
import { select } from "../promql.ts";
import { PACE_MILLIS } from "../paces.ts";
import { number, ratio, type AlertDefinition } from "./definition.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";

const pipeline = {
  group: "pipeline",
  subject: "pipeline",
  everyMillis: PACE_MILLIS.minute,
  sources: ["gpu-ledger"],
} as const;
const warning = { ...pipeline, severity: "warning", notify: "ticket" } as const;
const critical = { ...pipeline, severity: "critical", notify: "page" } as const;

/** Returns a series of this project's own programs. */
function own({ selectors }: AlertOptions, name: string, ...matchers: readonly string[]): string {
  return select(`gpu_ledger_${name}`, ...matchers, selectors.ledger);
}

/** Alerts about gpu-ledger's own data: whether it is complete, fresh and correct. */
export const PIPELINE_ALERTS: readonly AlertDefinition[] = [
  {
    ...warning,
    name: "GPULedgerDown",
    forMillis: 5 * MINUTE_MILLIS,
    expr: ({ selectors }) => `${select("up", selectors.ledger)} == 0`,
    summary: "A part of gpu-ledger does not answer.",
    description: "Prometheus gets no page from {{ $labels.instance }} (job {{ $labels.job }}).",
  },
  {
    ...warning,
    name: "GPULedgerScrapesFailing",
    forMillis: 15 * MINUTE_MILLIS,
    parameters: { share: ratio(0.1, "part of a job's scrapes that fail") },
    expr: (
      options,
      { share },
    ) => `sum by (job, scrape_job) (rate(${own(options, "scrapes_total", 'outcome!="ok"')}[10m]))
/ on (job, scrape_job) sum by (job, scrape_job) (rate(${own(options, "scrapes_total")}[10m])) > ${share}`,
    summary: "Scrapes of GPU exporters fail.",
    description:
      "{{ $value | humanizePercentage }} of the scrapes of {{ $labels.scrape_job }} fail. What is not seen is charged as unobserved.",
  },
  {
    ...warning,
    name: "GPULedgerStale",
    forMillis: 10 * MINUTE_MILLIS,
    parameters: { seconds: number(120, 1, 86_400, "seconds from a scrape to its rows, of the slowest hundredth") },
    expr: (options, { seconds }) =>
      `histogram_quantile(0.99, sum by (le) (rate(${own(options, "freshness_seconds_bucket")}[10m]))) > ${seconds}`,
    summary: "Samples reach the store late.",
    description: "The slowest hundredth of scrapes takes {{ $value | humanizeDuration }} until it can be asked for.",
  },
  {
    ...warning,
    name: "GPULedgerLagGrowing",
    forMillis: 15 * MINUTE_MILLIS,
    parameters: { messages: number(10_000, 1, 1e9, "messages that wait") },
    expr: (options, { messages }) => {
      const lag = own(options, "lag_messages");
      return `sum by (job) (${lag}) > ${messages}\nand on (job) sum by (job) (delta(${lag}[15m])) > 0`;
    },
    summary: "Processors fall behind the bus.",
    description: "{{ $value }} messages wait on the bus, and they get more.",
  },
  {
    ...warning,
    name: "GPULedgerSpooling",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => `${own(options, "spool_messages")} > 0 and rate(${own(options, "send_errors_total")}[10m]) > 0`,
    summary: "A collector can't reach the bus.",
    description:
      "{{ $value }} messages of {{ $labels.instance }} wait on its disk until the bus answers. Nothing is lost until the spool is full.",
  },
  {
    ...critical,
    name: "GPULedgerMessagesLost",
    forMillis: 0,
    expr: (options) => `increase(${own(options, "messages_lost_total")}[10m]) > 0
or
increase(${own(options, "messages_dropped_total")}[10m]) > 0`,
    summary: "Samples were lost.",
    description:
      "About {{ $value | humanize }} messages at {{ $labels.instance }} were given up within ten minutes{{ if $labels.reason }} ({{ $labels.reason }}){{ end }}. What they told is charged as unobserved.",
  },
  {
    ...warning,
    name: "GPULedgerDeadLetters",
    forMillis: 0,
    expr: (options) =>
      `sum by (job, outcome) (increase(${own(options, "messages_total", 'outcome!~"stored|tombstone"')}[10m])) > 0`,
    summary: "Messages could not be read and were put aside.",
    description:
      "About {{ $value | humanize }} messages were put into gpu.dead-letter within ten minutes ({{ $labels.outcome }}). gpu-ledger dead-letter list shows them.",
  },
  {
    ...critical,
    name: "GPULedgerPartitionsPaused",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => `${own(options, "partitions_paused")} > 0`,
    summary: "A processor waits for a newer release.",
    description:
      "{{ $value }} partitions at {{ $labels.instance }} hold messages of a newer schema than this release reads. They wait until a newer release takes over.",
  },
  {
    ...warning,
    name: "GPULedgerStoreErrors",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => `increase(${own(options, "store_retries_total")}[10m]) > 0`,
    summary: "The store refuses inserts.",
    description:
      "Inserts from {{ $labels.instance }} failed and are tried again: about {{ $value | humanize }} within ten minutes.",
  },
  {
    ...critical,
    name: "GPULedgerWithoutLeader",
    forMillis: 10 * MINUTE_MILLIS,
    // Collectors export 0 too, so the leader is found in the sum.
    expr: (options) => `sum(${own(options, "leader")}) == 0`,
    summary: "Nobody makes the ledger.",
    description: "No processor leads: rollups, usage and charges are not made.",
  },
  {
    ...warning,
    name: "GPULedgerRunsFailing",
    forMillis: 15 * MINUTE_MILLIS,
    expr: (options) => `increase(${own(options, "run_errors_total")}[15m]) > 0`,
    summary: "Rollups or charges fail.",
    description:
      "Work of the ledger at {{ $labels.instance }} failed and is tried again: about {{ $value | humanize }} times in a quarter of an hour.",
  },
  {
    ...critical,
    name: "GPULedgerInvariantBroken",
    forMillis: 0,
    keepFiringForMillis: 60 * MINUTE_MILLIS,
    expr: (options) => `increase(${own(options, "invariant_breaches_total")}[10m]) > 0`,
    summary: "Charges do not sum to the cost.",
    description:
      "For about {{ $value | humanize }} GPUs the charges did not sum to what they cost. Such hours are not published and no period with one can be closed. gpu-ledger check names GPU and hour.",
  },
  {
    ...warning,
    name: "GPULedgerUnpriced",
    forMillis: 60 * MINUTE_MILLIS,
    expr: (options) => `${own(options, "unpriced_gpu_hours")} > 0`,
    summary: "GPUs have no price.",
    description:
      '{{ printf "%.4g" $value }} GPU-hours of the last charged hour in cluster {{ $labels.cluster }} have no price. gpu-ledger prices check names the nodes.',
  },
  {
    ...warning,
    name: "GPULedgerUnownedShareHigh",
    forMillis: 60 * MINUTE_MILLIS,
    parameters: { share: ratio(0.1, "part of the cost that nobody is named for") },
    expr: (options, { share }) => `sum by (job) (${own(options, "team_cost_per_hour", 'team="unowned"')})
/ on (job) sum by (job) (${own(options, "team_cost_per_hour")}) > ${share}`,
    summary: "Much of the cost belongs to nobody.",
    description:
      "{{ $value | humanizePercentage }} of the cost of the last day has no owner. gpu-ledger owners check lists the workloads, the dearest first.",
  },
  {
    ...warning,
    name: "GPULedgerClusterUnwatched",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => `sum by (cluster) (${own(options, "kubernetes_watching")}) == 0`,
    summary: "Nobody watches a cluster.",
    description:
      "No collector is the elected watcher of cluster {{ $labels.cluster }}: pods and owners that begin now are not known.",
  },
  {
    ...warning,
    name: "GPULedgerForbidden",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => `${own(options, "kubernetes_forbidden")} > 0`,
    summary: "A collector lacks a permission.",
    description:
      "The collector may not {{ $labels.verb }} {{ $labels.resource }} in cluster {{ $labels.cluster }}. gpu-ledger check says what the reports lack.",
  },
  {
    ...warning,
    name: "GPULedgerApiServerSilent",
    forMillis: 5 * MINUTE_MILLIS,
    parameters: { seconds: number(600, 200, 86_400, "seconds without a word about a kind") },
    expr: (options, { seconds }) => `max by (cluster) (${own(options, "kubernetes_silence_seconds")}) > ${seconds}`,
    summary: "An API server has said nothing for long.",
    description:
      "The API server of cluster {{ $labels.cluster }} has said nothing about a kind for {{ $value | humanizeDuration }}: pods and owners of it are as they were.",
  },
  {
    ...warning,
    name: "GPULedgerKindGone",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => {
      const followed = own(options, "kubernetes_objects");
      return `count by (cluster, resource) (max_over_time(${followed}[1h]))
unless on (cluster, resource) count by (cluster, resource) (${followed})
and on (cluster) sum by (cluster) (${own(options, "kubernetes_watching")}) > 0`;
    },
    summary: "A kind of object is served no more.",
    description:
      "{{ $labels.resource }} of cluster {{ $labels.cluster }} was followed in the last hour and is not now: all objects of the kind count as gone.",
  },
  {
    ...warning,
    name: "GPULedgerFactsWaiting",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) =>
      `${own(options, "facts_waiting")} > 0 and increase(${own(options, "facts_sent_total")}[10m]) == 0`,
    summary: "Facts of a cluster do not reach the bus.",
    description:
      "{{ $value }} facts of {{ $labels.topic }} wait at {{ $labels.instance }}, and none was sent for ten minutes: the ledger knows an older cluster than the API server.",
  },
  {
    ...warning,
    name: "GPULedgerSeriesMissing",
    forMillis: 5 * MINUTE_MILLIS,
    expr: (options) => `increase(${own(options, "live_failures_total")}[10m]) > 0`,
    summary: "Joined series are not written.",
    description:
      "{{ $labels.instance }} failed to write its series of {{ $labels.view }}: dashboards and alerts that join with them see nothing of its nodes.",
  },
  {
    ...warning,
    name: "GPULedgerScrapesUnsent",
    forMillis: 5 * MINUTE_MILLIS,
    expr: (options) => `sum by (job, scrape_job) (increase(${own(options, "scrapes_unsent_total")}[10m])) > 0`,
    summary: "Scrapes never become messages.",
    description:
      "Scrapes of {{ $labels.scrape_job }} were read and could not be kept for the bus. What they saw is charged as unobserved.",
  },
  {
    ...warning,
    name: "GPULedgerPeriodOverdue",
    forMillis: 24 * 60 * MINUTE_MILLIS,
    expr: (options) => `${own(options, "periods_overdue")} > 0`,
    summary: "A billing period waits to be closed.",
    description:
      "{{ $value }} billing periods are past their closing date. gpu-ledger close --dry-run shows what would be frozen.",
  },
  {
    ...warning,
    name: "GPULedgerDeliveriesLate",
    forMillis: 15 * MINUTE_MILLIS,
    // Every server reports all of them.
    expr: (options) => `max by (job) (${own(options, "deliveries_late")}) > 0`,
    summary: "Reports were not delivered.",
    description:
      "{{ $value }} reports were given up, or are due for more than a day. gpu-ledger deliveries says which, and why.",
  },
];
