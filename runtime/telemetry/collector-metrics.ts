import type { DropReason } from "../bus/spool.ts";
import { SECONDS, type MetricDefinition } from "./metric-definition.ts";

/** What collectors tell of themselves: targets and pages, clusters that they watch, what waits for the bus. */
export const COLLECTOR_METRICS = {
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
} as const satisfies Readonly<Record<string, MetricDefinition>>;
