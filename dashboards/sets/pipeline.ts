import { select } from "../../alerts/promql.ts";
import { toPage, UIDS } from "../links.ts";
import type { Dashboard, Thresholds } from "../model.ts";
import { section, type PanelDraft } from "../section.ts";
import { goodBelow, numberOf } from "../thresholds.ts";
import type { DashboardOptions } from "../options.ts";
import { instant, range } from "../queries.ts";

const NOT_SCRAPED = "No program of gpu-ledger is scraped: add them to the targets of this Prometheus.";
const NONE_LOST = "There was none in this time.";
const RATE = "[$__rate_interval]";
/** The age of scrapes in seconds: that of the alert is red. */
const freshness = (options: DashboardOptions): Thresholds => [
  { color: "green" },
  { color: "orange", from: 30 },
  { color: "red", from: numberOf(options, "GPULedgerStale", "seconds") },
];

/** Returns the 95th percentile of a histogram's durations, by some of its labels. */
const most = (series: string, by: string = ""): string =>
  `histogram_quantile(0.95, sum by (le${by === "" ? "" : `, ${by}`}) (rate(${series}_bucket${RATE})))`;
/** Returns the rate of a counter per second, by one of its labels. */
const rateOf = (series: string, by: string): string => `sum by (${by}) (rate(${series}${RATE}))`;
const grown = (series: string): string => `sum(increase(${series}[$__range]))`;

const now = (options: DashboardOptions): readonly PanelDraft[] => [
  {
    title: "Freshness",
    description:
      "The age of a scrape when queries can see it, 95th percentile. Above 2 minutes, the dashboards show the past.",
    needs: "C",
    unit: "s",
    decimals: 1,
    thresholds: freshness(options),
    queries: [instant(most("gpu_ledger_freshness_seconds").replaceAll(RATE, "[5m]"))],
    empty: NOT_SCRAPED,
    links: [toPage("Data quality", "/quality")],
  },
  {
    title: "Not stored yet",
    description:
      "Messages on the bus that are not stored yet, of all partitions. It is normally near 0. If it grows, there are too few processors or the store is slow.",
    needs: "C",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "orange", from: 1000 }],
    queries: [instant("sum(max by (partition) (gpu_ledger_lag_messages))")],
    empty: NOT_SCRAPED,
  },
  {
    title: "Lost or refused",
    description:
      "Messages that were lost, abandoned or not readable in this time. The ledger does not have these scrapes; the reasons are below.",
    needs: "C",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "red", from: 1 }],
    queries: [
      instant(
        `${grown("gpu_ledger_messages_lost_total")} + ${grown("gpu_ledger_messages_dropped_total")} + (${grown('gpu_ledger_messages_total{outcome!="stored"}')} or on () vector(0))`,
      ),
    ],
    empty: NOT_SCRAPED,
  },
  {
    title: "Leaders",
    description:
      "The number of leading processors. Exactly one makes rollups and the ledger. If there is none for minutes, nothing new is charged.",
    needs: "C",
    decimals: 0,
    thresholds: [{ color: "red" }, { color: "green", from: 1 }, { color: "orange", from: 2 }],
    queries: [instant("sum(gpu_ledger_leader)")],
    empty: NOT_SCRAPED,
  },
  {
    title: "Hours to compute again",
    description:
      "Hours with changed data since they were charged. One or two are usual. After a change of prices or owners there are many, and they become fewer within minutes.",
    needs: "C",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "yellow", from: 50 }],
    queries: [instant("max(gpu_ledger_windows_dirty)")],
    empty: NOT_SCRAPED,
  },
  {
    title: "Sums that were not exact",
    description:
      "GPUs whose charges did not sum to their cost. The normal value is 0. A run with such a GPU is not published, and an alert fires.",
    needs: "C",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "red", from: 1 }],
    queries: [instant("sum(gpu_ledger_invariant_breaches_total)")],
    empty: NOT_SCRAPED,
  },
];

const collecting: readonly PanelDraft[] = [
  {
    title: "Scrapes by outcome",
    description:
      "Scrapes per second. A scrape that is not ok is time without telemetry: it is charged as unobserved, never as idle.",
    needs: "C",
    view: { kind: "series", isStacked: true },
    unit: "ops",
    queries: [range(rateOf("gpu_ledger_scrapes_total", "outcome"), "{{outcome}}")],
    empty: NOT_SCRAPED,
    width: 8,
  },
  {
    title: "How long scrapes take",
    description:
      "The 95th percentile. Near the interval, scrapes are skipped: give the exporters more CPU, or set a longer interval.",
    needs: "C",
    view: { kind: "series" },
    unit: "s",
    queries: [range(most("gpu_ledger_scrape_duration_seconds", "scrape_job"), "{{scrape_job}}")],
    empty: NOT_SCRAPED,
    width: 8,
  },
  {
    title: "Left out of pages",
    description:
      "Lines and values of exporters' pages that were left out, by reason. `gpu-ledger inspect` lists them for a page.",
    needs: "C",
    view: { kind: "series", isStacked: true },
    unit: "ops",
    queries: [range(`${rateOf("gpu_ledger_lines_dropped_total", "reason")} > 0`, "{{reason}}")],
    empty: NONE_LOST,
    width: 8,
  },
  {
    title: "Waiting for the bus",
    description:
      "Messages in memory and on disk that the bus has not accepted yet. They grow while the bus is away, and fall to 0 when it is back; none is lost.",
    needs: "C",
    view: { kind: "series" },
    decimals: 0,
    thresholds: goodBelow(1),
    queries: [range("sum by (instance) (gpu_ledger_spool_messages)", "{{instance}}")],
    empty: NOT_SCRAPED,
    width: 8,
  },
  {
    title: "Failed requests to Kubernetes",
    description: "Failed requests to API servers, by error. 403: a role lacks a verb; `gpu-ledger check` lists it.",
    needs: "C",
    view: { kind: "series", isStacked: true },
    unit: "ops",
    queries: [
      range(
        `${rateOf("gpu_ledger_kubernetes_errors_total", "cluster, resource, code")} > 0`,
        "{{cluster}} {{resource}} {{code}}",
      ),
    ],
    empty: NONE_LOST,
    width: 8,
  },
  {
    title: "Counters that alerts lack",
    description:
      "Targets without a counter that an alert needs: the alert cannot fire for them. `gpu-ledger generate exporter-config` writes the needed counters.",
    needs: "C",
    view: { kind: "bars" },
    decimals: 0,
    thresholds: goodBelow(1),
    queries: [
      instant(
        "sort_desc(topk(15, sum by (alert, counter) (gpu_ledger_alerts_lacking_counter)))",
        "{{alert}}: {{counter}}",
      ),
    ],
    empty: "Every target has the counters that the alerts need.",
    height: 8,
  },
];

const storing = (options: DashboardOptions): readonly PanelDraft[] => [
  {
    title: "From scrape to stored",
    description: "The age of scrapes when queries can see them: the median and the 95th percentile.",
    needs: "C",
    view: { kind: "series" },
    unit: "s",
    thresholds: freshness(options),
    queries: [
      range(most("gpu_ledger_freshness_seconds"), "95th percentile"),
      range(most("gpu_ledger_freshness_seconds").replace("0.95", "0.5"), "median"),
    ],
    empty: NOT_SCRAPED,
    width: 8,
  },
  {
    title: "Lag by partition",
    description:
      "Messages of each partition that are not stored yet. If only one partition grows, one of its messages or nodes blocks it.",
    needs: "C",
    view: { kind: "series" },
    decimals: 0,
    thresholds: goodBelow(numberOf(options, "GPULedgerLagGrowing", "messages")),
    queries: [range("max by (partition) (gpu_ledger_lag_messages)", "partition {{partition}}")],
    empty: NOT_SCRAPED,
    width: 8,
  },
  {
    title: "Messages by outcome",
    description: "Messages of processors by outcome. All except stored are in the dead-letter topic, with the reason.",
    needs: "C",
    view: { kind: "series", isStacked: true },
    unit: "ops",
    queries: [range(rateOf("gpu_ledger_messages_total", "outcome"), "{{outcome}}")],
    empty: NOT_SCRAPED,
    width: 8,
  },
  {
    title: "How long inserts take",
    description:
      "The time of an insert with its commit, 95th percentile. With seconds, the store is busy or its disk is slow. With retries, the store was away.",
    needs: "C",
    view: { kind: "series" },
    unit: "s",
    thresholds: goodBelow(1),
    queries: [range(most("gpu_ledger_insert_duration_seconds"), "95th percentile")],
    empty: NOT_SCRAPED,
    width: 8,
  },
  {
    title: "Runs by kind",
    description:
      "The duration of runs of an hour's rollups, usage and charges, 95th percentile. If charging takes minutes, today's costs are as old.",
    needs: "C",
    view: { kind: "series" },
    unit: "s",
    thresholds: goodBelow(60),
    queries: [range(most("gpu_ledger_run_duration_seconds", "kind"), "{{kind}}")],
    empty: NOT_SCRAPED,
    width: 8,
  },
  {
    title: "Trouble of the store and the ledger",
    description:
      "Repeated inserts, failed runs, partitions that wait for a newer release, and late reports, by kind. All of them are normally 0.",
    needs: "C",
    view: { kind: "series" },
    thresholds: goodBelow(1),
    queries: [
      range("sum(increase(gpu_ledger_store_retries_total[$__rate_interval]))", "inserts tried again"),
      range("sum(increase(gpu_ledger_run_errors_total[$__rate_interval]))", "runs failed"),
      range("sum(gpu_ledger_partitions_paused)", "partitions paused"),
      range("max(gpu_ledger_deliveries_late)", "deliveries late"),
    ],
    empty: NOT_SCRAPED,
    width: 8,
  },
];

const programs = ({ selectors }: DashboardOptions): readonly PanelDraft[] => [
  {
    title: "Memory",
    description:
      "Memory of each program of gpu-ledger. It is flat in all states of the bus and the store, because queues are bounded. Report a slope over days: it is a leak.",
    needs: "C",
    view: { kind: "series" },
    unit: "bytes",
    queries: [
      range(`max by (instance) (${select("process_resident_memory_bytes", selectors.ledger)})`, "{{instance}}"),
    ],
    empty: NOT_SCRAPED,
  },
  {
    title: "Processor",
    description:
      "CPU cores that each program of gpu-ledger uses. A program that stays at 1 is full: start another one.",
    needs: "C",
    view: { kind: "series" },
    decimals: 2,
    queries: [
      range(
        `max by (instance) (rate(${select("process_cpu_seconds_total", selectors.ledger)}${RATE}))`,
        "{{instance}}",
      ),
    ],
    empty: NOT_SCRAPED,
  },
];

/** Returns the dashboard of the data's quality: its freshness, its losses, and its queues. */
export function pipelineDashboard(options: DashboardOptions): Dashboard {
  return {
    uid: UIDS.pipeline,
    title: "GPU pipeline",
    description:
      "The quality of the data: its freshness, lost messages with their reasons, and the places where messages wait.",
    variables: [],
    annotations: [],
    sections: [
      section("Now", now(options)),
      section("Collecting", collecting),
      section("Storing and charging", storing(options)),
      section("The programs", programs(options)),
    ],
    from: "now-6h",
    refresh: "30s",
  };
}
