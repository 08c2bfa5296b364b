import type { Link } from "./model.ts";

/** The beginnings of the dashboards' addresses. They are stable, because people share and bookmark them. */
export const UIDS = {
  fleet: "gpu-ledger-fleet",
  teams: "gpu-ledger-teams",
  workload: "gpu-ledger-workload",
  gpu: "gpu-ledger-gpu",
  health: "gpu-ledger-health",
  sharing: "gpu-ledger-sharing",
  queue: "gpu-ledger-queue",
  cost: "gpu-ledger-cost",
  serving: "gpu-ledger-serving",
  pipeline: "gpu-ledger-pipeline",
} as const;

/** Returns a link to a dashboard with some variables set, for the same time and data sources. */
export function toDashboard(to: keyof typeof UIDS, title: string, variables: Readonly<Record<string, string>>): Link {
  const chosen = Object.entries(variables).map(([name, value]) => `var-${name}=${value}`);
  const time = "${__url_time_range}";
  return {
    title,
    url: `/d/${UIDS[to]}?${["var-prometheus=${prometheus}", "var-clickhouse=${clickhouse}", ...chosen, time].join("&")}`,
  };
}

/** Returns a link to a page of gpu-ledger, below the dashboard's address for it. */
export function toPage(title: string, path: string): Link {
  return { title, url: `\${server}${path}` };
}

/** Returns the value of a row's column in a link. */
export function cell(field: string): string {
  return `\${__data.fields["${field}"]:percentencode}`;
}
