import type { AlertOptions } from "../options.ts";
import { select } from "../promql.ts";
import { PACE_MILLIS } from "../paces.ts";
import { number, ratio, type AlertDefinition } from "./definition.ts";
import { DAY_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

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
      "{{ $value | humanizePercentage }} of the scrapes of {{ $labels.scrape_job }} fail. Held time without samples is charged as unobserved.",
  },
  {
    ...warning,
    name: "GPULedgerStale",
    forMillis: 10 * MINUTE_MILLIS,
    parameters: { seconds: number(120, 1, 86_400, "seconds from a scrape to its rows, 99th percentile") },
    expr: (options, { seconds }) =>
      `histogram_quantile(0.99, sum by (le) (rate(${own(options, "freshness_seconds_bucket")}[10m]))) > ${seconds}`,
    summary: "Samples reach the store late.",
    description: "The slowest 1 % of scrapes takes {{ $value | humanizeDuration }} until queries can see it.",
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
    description: "{{ $value }} messages wait on the bus, and the number grows.",
  },
  {
    ...warning,
    name: "GPULedgerSpooling",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => `${own(options, "spool_messages")} > 0 and rate(${own(options, "send_errors_total")}[10m]) > 0`,
    summary: "A collector cannot reach the bus.",
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
      "About {{ $value | humanize }} messages at {{ $labels.instance }} were dropped within 10 minutes{{ if $labels.reason }} ({{ $labels.reason }}){{ end }}. Their time is charged as unobserved.",
  },
  {
    ...warning,
    name: "GPULedgerDeadLetters",
    forMillis: 0,
    expr: (options) =>
      `sum by (job, outcome) (increase(${own(options, "messages_total", 'outcome!~"stored|tombstone"')}[10m])) > 0`,
    summary: "Messages could not be decoded and became dead letters.",
    description:
      "About {{ $value | humanize }} messages were moved to gpu.dead-letter within 10 minutes ({{ $labels.outcome }}). gpu-ledger dead-letter list shows them.",
  },
  {
    ...critical,
    name: "GPULedgerPartitionsPaused",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => `${own(options, "partitions_paused")} > 0`,
    summary: "A processor waits for a newer release.",
    description:
      "{{ $value }} partitions at {{ $labels.instance }} have messages with a schema that is too new for this release. They wait until a newer release takes over.",
  },
  {
    ...warning,
    name: "GPULedgerStoreErrors",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => `increase(${own(options, "store_retries_total")}[10m]) > 0`,
    summary: "The store refuses inserts.",
    description:
      "Inserts from {{ $labels.instance }} failed and are retried: about {{ $value | humanize }} within 10 minutes.",
  },
  {
    ...critical,
    name: "GPULedgerWithoutLeader",
    forMillis: 10 * MINUTE_MILLIS,
    // Collectors export 0 too, so the leader is found in the sum.
    expr: (options) => `sum(${own(options, "leader")}) == 0`,
    summary: "The ledger has no leader.",
    description: "No processor is the leader. Rollups, usage and charges are not made.",
  },
  {
    ...warning,
    name: "GPULedgerRunsFailing",
    forMillis: 15 * MINUTE_MILLIS,
    expr: (options) => `increase(${own(options, "run_errors_total")}[15m]) > 0`,
    summary: "Rollups or charges fail.",
    description:
      "Work of the ledger at {{ $labels.instance }} failed and is retried: about {{ $value | humanize }} times in 15 minutes.",
  },
  {
    ...critical,
    name: "GPULedgerInvariantBroken",
    forMillis: 0,
    keepFiringForMillis: 60 * MINUTE_MILLIS,
    expr: (options) => `increase(${own(options, "invariant_breaches_total")}[10m]) > 0`,
    summary: "Charges do not add up to the cost.",
    description:
      "For about {{ $value | humanize }} GPUs or nodes the charges did not add up to their cost, or could not be computed. The hour lacks them, and its period cannot be closed. gpu-ledger check shows the node and the hour.",
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
    parameters: { share: ratio(0.1, "part of the cost without an owner") },
    expr: (options, { share }) => `sum by (job) (${own(options, "team_cost_per_hour", 'team="unowned"')})
/ on (job) sum by (job) (${own(options, "team_cost_per_hour")}) > ${share}`,
    summary: "Much of the cost has no owner.",
    description:
      "{{ $value | humanizePercentage }} of the cost of the last day has no owner. gpu-ledger owners check lists the workloads (highest cost first).",
  },
  {
    ...warning,
    name: "GPULedgerClusterUnwatched",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => `sum by (cluster) (${own(options, "kubernetes_watching")}) == 0`,
    summary: "A cluster has no watcher.",
    description:
      "No collector is the elected watcher of cluster {{ $labels.cluster }}. New pods and owners are unknown.",
  },
  {
    ...warning,
    name: "GPULedgerForbidden",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => `${own(options, "kubernetes_forbidden")} > 0`,
    summary: "A collector lacks a permission.",
    description:
      "The collector has no permission to {{ $labels.verb }} {{ $labels.resource }} in cluster {{ $labels.cluster }}. gpu-ledger check shows the effect on reports.",
  },
  {
    ...warning,
    name: "GPULedgerApiServerSilent",
    forMillis: 5 * MINUTE_MILLIS,
    parameters: { seconds: number(600, 200, 86_400, "seconds without an event of a kind") },
    expr: (options, { seconds }) => `max by (cluster) (${own(options, "kubernetes_silence_seconds")}) > ${seconds}`,
    summary: "An API server is silent.",
    description:
      "The API server of cluster {{ $labels.cluster }} has sent no event of a kind for {{ $value | humanizeDuration }}. Pods and owners of the cluster may be out of date.",
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
    summary: "A kind of object is not served any more.",
    description:
      "{{ $labels.resource }} of cluster {{ $labels.cluster }} was followed in the last hour and is not followed now. Its objects count as gone.",
  },
  {
    ...warning,
    name: "GPULedgerFactsWaiting",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) =>
      `${own(options, "facts_waiting")} > 0 and increase(${own(options, "facts_sent_total")}[10m]) == 0`,
    summary: "Facts of a cluster do not reach the bus.",
    description:
      "{{ $value }} facts of {{ $labels.topic }} wait at {{ $labels.instance }}, and none was sent for 10 minutes. The ledger has an older state of the cluster than the API server.",
  },
  {
    ...warning,
    name: "GPULedgerSeriesMissing",
    forMillis: 5 * MINUTE_MILLIS,
    expr: (options) => `increase(${own(options, "live_failures_total")}[10m]) > 0`,
    summary: "Joined series are not written.",
    description:
      "{{ $labels.instance }} failed to write its series of {{ $labels.view }}. Dashboards and alerts that join with these series have no data of its nodes.",
  },
  {
    ...warning,
    name: "GPULedgerScrapesUnsent",
    forMillis: 0,
    expr: (options) => `sum by (job, scrape_job) (increase(${own(options, "scrapes_unsent_total")}[10m])) > 0`,
    summary: "Scrapes do not become messages.",
    description:
      "Scrapes of {{ $labels.scrape_job }} could not be stored for the bus. Their time is charged as unobserved.",
  },
  {
    ...warning,
    name: "GPULedgerCertificateExpiring",
    forMillis: 15 * MINUTE_MILLIS,
    parameters: { days: number(7, 0.01, 365, "days until a certificate ends") },
    // A port without TLS exports 0.
    expr: (options, { days }) =>
      `0 < ${own(options, "tls_certificate_expiry_timestamp_seconds")} < time() + ${days} * 86400`,
    summary: "A certificate ends soon.",
    description:
      "The certificate that {{ $labels.instance }} serves ends at {{ $value | humanizeTimestamp }}. Clients refuse it from then on.",
  },
  {
    ...warning,
    name: "GPULedgerCertificateNotReloaded",
    forMillis: 5 * MINUTE_MILLIS,
    expr: (options) => `increase(${own(options, "tls_reload_failures_total")}[10m]) > 0`,
    summary: "New certificate files cannot be served.",
    description:
      "The TLS files of {{ $labels.instance }} have changed and cannot be served. The port keeps the old certificate until its end.",
  },
  {
    ...warning,
    name: "GPULedgerPeriodOverdue",
    forMillis: DAY_MILLIS,
    expr: (options) => `${own(options, "periods_overdue")} > 0`,
    summary: "A billing period is not closed.",
    description:
      "{{ $value }} billing periods are past their closing date. gpu-ledger close --dry-run shows the figures that would be frozen.",
  },
  {
    ...warning,
    name: "GPULedgerDeliveriesLate",
    forMillis: 15 * MINUTE_MILLIS,
    // Every server reports all of them.
    expr: (options) => `max by (job) (${own(options, "deliveries_late")}) > 0`,
    summary: "Reports were not delivered.",
    description:
      "{{ $value }} reports were abandoned, or are overdue for more than a day. gpu-ledger deliveries lists them with the reason.",
  },
];
