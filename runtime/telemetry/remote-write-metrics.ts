import type { MetricDefinition } from "./metric-definition.ts";

/** The metrics of the collector's port for remote write. */
export const REMOTE_WRITE_METRICS = {
  writeRequests: {
    name: "gpu_ledger_remote_write_requests_total",
    type: "counter",
    help: "Requests of remote write, by the status code of the answer.",
    labels: ["code"],
  },
  writeSamples: {
    name: "gpu_ledger_remote_write_samples_total",
    type: "counter",
    help: "Samples of remote write that are used: of GPUs, of up and of kube_pod_info.",
    labels: [],
  },
  writeSamplesLeftOut: {
    name: "gpu_ledger_remote_write_samples_left_out_total",
    type: "counter",
    help: "Samples of remote write that are not used, by reason. other-series, replica and not-a-gpu-target are normal.",
    labels: ["reason"],
    known: ["other-series", "series-limit", "labels", "time", "replica", "too-late", "too-often", "not-a-gpu-target"],
  },
  writeScrapes: {
    name: "gpu_ledger_remote_write_scrapes_total",
    type: "counter",
    help: "Scrapes of a Prometheus that were sent to the bus: sent, repeated after late samples, failed-scrape, or without-gpu, which have no message.",
    labels: ["outcome"],
    known: ["sent", "repeated", "failed-scrape", "without-gpu"],
  },
  writeScrapesUnsent: {
    name: "gpu_ledger_remote_write_scrapes_unsent_total",
    type: "counter",
    help: "Attempts to send a scrape of a Prometheus that failed. They are tried again.",
    labels: [],
  },
  writeElections: {
    name: "gpu_ledger_remote_write_replica_changes_total",
    type: "counter",
    help: "Targets whose samples another replica of a Prometheus took over, because the elected one was silent.",
    labels: [],
  },
  writeSeries: {
    name: "gpu_ledger_remote_write_series",
    type: "gauge",
    help: "Series of remote write that are known.",
    labels: [],
  },
  writeTargets: {
    name: "gpu_ledger_remote_write_targets",
    type: "gauge",
    help: "Targets with GPUs whose samples come by remote write.",
    labels: [],
  },
  writeSenders: {
    name: "gpu_ledger_remote_write_senders",
    type: "gauge",
    help: "Senders of remote write in the last 5 minutes, by address and program.",
    labels: [],
  },
  writeMemory: {
    name: "gpu_ledger_remote_write_memory_bytes",
    type: "gauge",
    help: "Memory of the series and the scrapes of remote write.",
    labels: [],
  },
  writeLog: {
    name: "gpu_ledger_remote_write_log_bytes",
    type: "gauge",
    help: "Bytes of the write-ahead log of remote write.",
    labels: [],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;
