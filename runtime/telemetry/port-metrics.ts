import type { MetricDefinition } from "./metric-definition.ts";

/** The metrics of a process's own port. */
export const PORT_METRICS = {
  tlsReloadFailures: {
    name: "gpu_ledger_tls_reload_failures_total",
    type: "counter",
    help: "Checks of the TLS files, one every 5 s, that found changed files that cannot be served. The port keeps the old ones.",
    labels: [],
  },
  tlsExpiry: {
    name: "gpu_ledger_tls_certificate_expiry_timestamp_seconds",
    type: "gauge",
    help: "The end of the validity of the certificate that the port serves, in seconds since the epoch. 0 without TLS.",
    labels: [],
  },
  connectionsEnded: {
    name: "gpu_ledger_port_connections_ended_total",
    type: "counter",
    help: "Connections that were ended or refused because of a limit: that of their address (`server.connectionsPerAddress`), or that of the port, 2,000.",
    labels: ["limit"],
    known: ["address", "port"],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;
