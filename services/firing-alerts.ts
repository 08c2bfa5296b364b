import type { Logger } from "pino";
import { SourceError } from "../collectors/prometheus/read/source-error.ts";
import type { AlertsNow, FiringAlert, ReadAlerts } from "../reports/firing-alerts.ts";
import type { PrometheusServerConfig } from "../runtime/config/prometheus-server.ts";
import { clientOf } from "./prometheus-client.ts";

/** A page does not wait longer for a Prometheus. */
const LIMITS = { timeoutMillis: 2_000, mostBytes: 16_000_000 };
const CURRENT_MILLIS = 5_000;

/** An alert in the answer of Prometheus' API (https://prometheus.io/docs/prometheus/latest/querying/api/#alerts). */
interface AnsweredAlert {
  readonly state: "pending" | "firing";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly activeAt: string;
}

/** Opens the firing alerts of a configured Prometheus. They are asked at most every 5 s. Without a server there are none to read. */
export function openFiringAlerts(
  server: PrometheusServerConfig | undefined,
  { now, logger }: { readonly now: () => number; readonly logger: Logger },
): { readonly read: ReadAlerts; stop(): Promise<void> } {
  if (server === undefined) return { read: () => Promise.resolve(undefined), stop: () => Promise.resolve() };
  const client = clientOf(server, LIMITS);
  let last: { readonly at: number; readonly alerts: Promise<AlertsNow> } | undefined;

  async function ask(): Promise<AlertsNow> {
    try {
      const { alerts } = await client.get<{ readonly alerts: readonly AnsweredAlert[] }>("/api/v1/alerts", {});
      return alerts.filter(({ state }) => state === "firing").map(alertOf);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      logger.warn({ reason: error.message }, "the firing alerts cannot be read");
      return "away";
    }
  }

  return {
    read() {
      if (last === undefined || now() - last.at >= CURRENT_MILLIS) last = { at: now(), alerts: ask() };
      return last.alerts;
    },
    stop: () => client.close(),
  };
}

function alertOf({ labels, annotations, activeAt }: AnsweredAlert): FiringAlert {
  const { alertname = "", severity = "", ...others } = labels;
  return {
    name: alertname,
    severity,
    summary: annotations["summary"] ?? "",
    runbook: annotations["runbook_url"] ?? "",
    labels: others,
    since: Date.parse(activeAt),
  };
}
