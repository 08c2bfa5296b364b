import type { MetricDefinition } from "./metric-definition.ts";

/** The metrics of processes that serve reports: `serve`, and `up`. */
export const SERVER_METRICS = {
  deliveryAttempts: {
    name: "gpu_ledger_delivery_attempts_total",
    type: "counter",
    help: "Attempts of a server to deliver a report, by outcome. lost: another server may deliver the report.",
    labels: ["outcome"],
    known: ["delivered", "failed", "waiting", "stopped", "lost"],
  },
  deliveriesLate: {
    name: "gpu_ledger_deliveries_late",
    type: "gauge",
    help: "Reports that were abandoned, or are overdue for more than a day. Every server counts all of them.",
    labels: [],
  },
  practiceFindings: {
    name: "gpu_ledger_practice_findings",
    type: "gauge",
    help: "Objects that do not follow a practice, by check. Computed every 5 minutes. Every server counts all of them.",
    labels: ["check", "severity"],
  },
  practiceCost: {
    name: "gpu_ledger_practice_cost",
    type: "gauge",
    help: "The money at stake of these objects in the days of the practices, in the currency of the price book, for each check that has one. Amounts of different checks overlap.",
    labels: ["check"],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;
