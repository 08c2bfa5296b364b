import type { GeneratedFile } from "../alerts/exporter/files.ts";
import type { Dashboard } from "./model.ts";
import type { DashboardOptions } from "./options.ts";
import { dashboardOf } from "./render/dashboard.ts";
import { costDashboard } from "./sets/cost.ts";
import { fleetDashboard } from "./sets/fleet.ts";
import { gpuDashboard } from "./sets/gpu.ts";
import { healthDashboard } from "./sets/health.ts";
import { pipelineDashboard } from "./sets/pipeline.ts";
import { queueDashboard } from "./sets/queue.ts";
import { servingDashboard } from "./sets/serving.ts";
import { sharingDashboard } from "./sets/sharing.ts";
import { teamsDashboard } from "./sets/teams.ts";
import { workloadDashboard } from "./sets/workload.ts";

/** The default address of gpu-ledger's pages: that of `gpu-ledger up`. */
const SERVER = "http://127.0.0.1:8080";

/** Returns every dashboard for the rules of a configuration, the entry dashboard first. */
export function dashboards(options: DashboardOptions): readonly Dashboard[] {
  return [
    fleetDashboard(options),
    teamsDashboard(options),
    workloadDashboard(options),
    gpuDashboard(options),
    healthDashboard(options),
    sharingDashboard(options),
    queueDashboard(options),
    costDashboard(options),
    servingDashboard(options),
    pipelineDashboard(options),
  ];
}

/** Returns every dashboard as a file for Grafana's import or provisioning, named by its uid. */
export function dashboardFiles(options: DashboardOptions): readonly GeneratedFile[] {
  return dashboards(options).map((dashboard) => ({
    name: `${dashboard.uid}.json`,
    text: `${JSON.stringify(dashboardOf(dashboard, options.server ?? SERVER), null, 2)}\n`,
  }));
}
