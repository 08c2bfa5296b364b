import { select } from "../../alerts/promql.ts";
import { toPage, UIDS } from "../links.ts";
import type { Dashboard, Panel, Thresholds } from "../model.ts";
import type { DashboardOptions } from "../options.ts";
import { instant, range } from "../queries.ts";

const NOTHING_TOLD = "No program of gpu-ledger is scraped: make them targets of this Prometheus.";
const NONE_LOST = "Nothing of it has happened in this time.";
const RATE = "[$__rate_interval]";
const BAD: Thresholds = [{ color: "green" }, { color: "orange", from: 1 }];

/** Returns the 95th percentile of a histogram's durations, by some of its labels. */
const most = (series: string, by: string = ""): string =>
  `histogram_quantile(0.95, sum by (le${by === "" ? "" : `, ${by}`}) (rate(${series}_bucket${RATE})))`;
/** Returns the rate of a counter per second, by one of its labels. */
const rateOf = (series: string, by: string): string => `sum by (${by}) (rate(${series}${RATE}))`;
const grown = (series: string): string => `sum(increase(${series}[$__range]))`;

const now: readonly Panel[] = [
  {
    title: "Freshness",
    description:
      "How old a scrape is when it can be asked for: nineteen of twenty are newer. Beyond two minutes, what you see is what was.",
    needs: "C",
    view: { kind: "stat" },
    unit: "s",
    decimals: 1,
    thresholds: [{ color: "green" }, { color: "orange", from: 30 }, { color: "red", from: 120 }],
    queries: [instant(most("gpu_ledger_freshness_seconds").replaceAll(RATE, "[5m]"))],
    empty: NOTHING_TOLD,
    width: 4,
    height: 5,
    links: [toPage("Data quality", "/quality")],
  },
  {
    title: "Not stored yet",
    description:
      "Messages on the bus that are not stored yet, of all partitions. It is near 0, but for moments; growing, the processors are too few or the store is slow.",
    needs: "C",
    view: { kind: "stat" },
    unit: "short",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "orange", from: 1000 }],
    queries: [instant("sum(max by (partition) (gpu_ledger_lag_messages))")],
    empty: NOTHING_TOLD,
    width: 4,
    height: 5,
  },
  {
    title: "Lost or refused",
    description:
      "Messages that were lost, given up or could not be read in this time. Each of them is a scrape that the ledger has not got; the reasons are below.",
    needs: "C",
    view: { kind: "stat" },
    unit: "short",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "red", from: 1 }],
    queries: [
      instant(
        `${grown("gpu_ledger_messages_lost_total")} + ${grown("gpu_ledger_messages_dropped_total")} + (${grown('gpu_ledger_messages_total{outcome!="stored"}')} or on () vector(0))`,
      ),
    ],
    empty: NOTHING_TOLD,
    width: 4,
    height: 5,
  },
  {
    title: "Leaders",
    description:
      "Processors that lead: exactly one makes rollups and the ledger. None for minutes: nothing new is charged.",
    needs: "C",
    view: { kind: "stat" },
    unit: "short",
    decimals: 0,
    thresholds: [{ color: "red" }, { color: "green", from: 1 }, { color: "orange", from: 2 }],
    queries: [instant("sum(gpu_ledger_leader)")],
    empty: NOTHING_TOLD,
    width: 4,
    height: 5,
  },
  {
    title: "Hours to be computed again",
    description:
      "Hours whose data has changed since they were charged. One or two are usual; many after prices or owners changed go down within minutes.",
    needs: "C",
    view: { kind: "stat" },
    unit: "short",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "yellow", from: 50 }],
    queries: [instant("max(gpu_ledger_windows_dirty)")],
    empty: NOTHING_TOLD,
    width: 4,
    height: 5,
  },
  {
    title: "Sums that were not exact",
    description:
      "GPUs whose charges did not sum to what they cost. It is 0: a run with any is not published, and an alert says so.",
    needs: "C",
    view: { kind: "stat" },
    unit: "short",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "red", from: 1 }],
    queries: [instant("sum(gpu_ledger_invariant_breaches_total)")],
    empty: NOTHING_TOLD,
    width: 4,
    height: 5,
  },
];

const collecting: readonly Panel[] = [
  {
    title: "Scrapes by outcome",
    description:
      "Scrapes by second. What is not ok is a GPU's time without telemetry: it is charged as unobserved, never as idle.",
    needs: "C",
    view: { kind: "series", isStacked: true },
    unit: "ops",
    queries: [range(rateOf("gpu_ledger_scrapes_total", "outcome"), "{{outcome}}")],
    empty: NOTHING_TOLD,
    width: 8,
    height: 8,
  },
  {
    title: "How long scrapes take",
    description:
      "Nineteen of twenty are quicker. Close to the interval, scrapes are skipped: give the exporters more processor, or a longer interval.",
    needs: "C",
    view: { kind: "series" },
    unit: "s",
    queries: [range(most("gpu_ledger_scrape_duration_seconds", "scrape_job"), "{{scrape_job}}")],
    empty: NOTHING_TOLD,
    width: 8,
    height: 8,
  },
  {
    title: "Left out of pages",
    description:
      "Lines and values of exporters' pages that were left out, by reason. gpu-ledger inspect tells of a page which they are.",
    needs: "C",
    view: { kind: "series", isStacked: true },
    unit: "ops",
    queries: [range(`${rateOf("gpu_ledger_lines_dropped_total", "reason")} > 0`, "{{reason}}")],
    empty: NONE_LOST,
    width: 8,
    height: 8,
  },
  {
    title: "Waiting for the bus",
    description:
      "Messages in memory and on disk that the bus has not taken yet. It grows while the bus is away, and falls to 0 when it is back: nothing is lost meanwhile.",
    needs: "C",
    view: { kind: "series" },
    unit: "short",
    decimals: 0,
    queries: [range("sum by (instance) (gpu_ledger_spool_messages)", "{{instance}}")],
    empty: NOTHING_TOLD,
    width: 8,
    height: 8,
  },
  {
    title: "Kubernetes' answers that failed",
    description:
      "Requests to API servers that failed, by what went wrong. 403: a role lacks a verb, which gpu-ledger check names.",
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
    height: 8,
  },
  {
    title: "Counters that alerts lack",
    description:
      "Targets whose page lacks a counter that an alert needs: on them it can't fire. generate exporter-config writes the counters that are needed.",
    needs: "C",
    view: { kind: "bars" },
    unit: "short",
    decimals: 0,
    queries: [
      instant(
        "sort_desc(topk(15, sum by (alert, counter) (gpu_ledger_alerts_lacking_counter)))",
        "{{alert}}: {{counter}}",
      ),
    ],
    empty: "Every target has what the alerts need.",
    width: 8,
    height: 8,
  },
];

const storing: readonly Panel[] = [
  {
    title: "From scrape to stored",
    description:
      "How old scrapes are when they can be asked for: the middle one, and what nineteen of twenty are below.",
    needs: "C",
    view: { kind: "series" },
    unit: "s",
    queries: [
      range(most("gpu_ledger_freshness_seconds"), "19 of 20"),
      range(most("gpu_ledger_freshness_seconds").replace("0.95", "0.5"), "middle"),
    ],
    empty: NOTHING_TOLD,
    width: 8,
    height: 8,
  },
  {
    title: "Lag by partition",
    description:
      "Messages of each partition that are not stored yet. One that grows alone has a message or a node that holds it up.",
    needs: "C",
    view: { kind: "series" },
    unit: "short",
    decimals: 0,
    queries: [range("max by (partition) (gpu_ledger_lag_messages)", "partition {{partition}}")],
    empty: NOTHING_TOLD,
    width: 8,
    height: 8,
  },
  {
    title: "Messages by outcome",
    description:
      "Messages that processors took, by what became of them. All but stored are in the dead-letter topic, with the reason.",
    needs: "C",
    view: { kind: "series", isStacked: true },
    unit: "ops",
    queries: [range(rateOf("gpu_ledger_messages_total", "outcome"), "{{outcome}}")],
    empty: NOTHING_TOLD,
    width: 8,
    height: 8,
  },
  {
    title: "How long inserts take",
    description:
      "One insert with its commit, nineteen of twenty. Seconds: the store is busy, or its disk is slow; retries tell that it was away.",
    needs: "C",
    view: { kind: "series" },
    unit: "s",
    queries: [range(most("gpu_ledger_insert_duration_seconds"), "19 of 20")],
    empty: NOTHING_TOLD,
    width: 8,
    height: 8,
  },
  {
    title: "Runs by kind",
    description:
      "How long runs of an hour's rollups, usage and charges take, nineteen of twenty. When charging takes minutes, today's money is as old.",
    needs: "C",
    view: { kind: "series" },
    unit: "s",
    queries: [range(most("gpu_ledger_run_duration_seconds", "kind"), "{{kind}}")],
    empty: NOTHING_TOLD,
    width: 8,
    height: 8,
  },
  {
    title: "Trouble of the store and the ledger",
    description:
      "Inserts that were tried again, runs that failed, partitions that wait for a newer release, reports that are late, by what it is. All of it is 0 on a good day.",
    needs: "C",
    view: { kind: "series" },
    unit: "short",
    thresholds: BAD,
    queries: [
      range("sum(increase(gpu_ledger_store_retries_total[$__rate_interval]))", "inserts tried again"),
      range("sum(increase(gpu_ledger_run_errors_total[$__rate_interval]))", "runs failed"),
      range("sum(gpu_ledger_partitions_paused)", "partitions paused"),
      range("max(gpu_ledger_deliveries_late)", "deliveries late"),
    ],
    empty: NOTHING_TOLD,
    width: 8,
    height: 8,
  },
];

const programs = ({ selectors }: DashboardOptions): readonly Panel[] => [
  {
    title: "Memory",
    description:
      "Memory of each program of gpu-ledger. It is flat, whatever the bus or the store do: queues are bounded. A slope over days is a leak, to be reported.",
    needs: "C",
    view: { kind: "series" },
    unit: "bytes",
    queries: [
      range(`max by (instance) (${select("process_resident_memory_bytes", selectors.ledger)})`, "{{instance}}"),
    ],
    empty: NOTHING_TOLD,
    width: 12,
    height: 8,
  },
  {
    title: "Processor",
    description: "Cores that each program of gpu-ledger uses. One that stays at 1 is full: start another beside it.",
    needs: "C",
    view: { kind: "series" },
    unit: "short",
    decimals: 2,
    queries: [
      range(
        `max by (instance) (rate(${select("process_cpu_seconds_total", selectors.ledger)}${RATE}))`,
        "{{instance}}",
      ),
    ],
    empty: NOTHING_TOLD,
    width: 12,
    height: 8,
  },
];

/** Returns the dashboard of the data's quality: its freshness, its losses, and its queues. */
export function pipelineDashboard(options: DashboardOptions): Dashboard {
  return {
    uid: UIDS.pipeline,
    title: "GPU pipeline",
    description: "Is what I see true? How fresh it is, what was lost on the way and why, and where it waits.",
    variables: [],
    annotations: [],
    sections: [
      { title: "Now", panels: now },
      { title: "Collecting", panels: collecting },
      { title: "Storing and charging", panels: storing },
      { title: "The programs", panels: programs(options) },
    ],
    from: "now-6h",
    refresh: "30s",
  };
}
