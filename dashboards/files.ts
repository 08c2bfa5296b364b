import type { GeneratedFile } from "../alerts/exporter/files.ts";
import type { AlertOptions } from "../alerts/options.ts";
import type { Dashboard } from "./model.ts";
import { dashboardOf } from "./render/dashboard.ts";
import { fleetDashboard } from "./sets/fleet.ts";
import { gpuDashboard } from "./sets/gpu.ts";

/** Where gpu-ledger's pages are, unless something else is said: as `gpu-ledger up` serves them. */
const SERVER = "http://127.0.0.1:8080";

/** Every dashboard for rules of a configuration, the one that everything begins with first. */
export function dashboards(options: AlertOptions): readonly Dashboard[] {
  return [fleetDashboard(options), gpuDashboard(options)];
}

/** Every dashboard as a file that Grafana imports or is provisioned with, named by its uid. */
export function dashboardFiles(options: AlertOptions): readonly GeneratedFile[] {
  return dashboards(options).map((dashboard) => ({
    name: `${dashboard.uid}.json`,
    text: `${JSON.stringify(dashboardOf(dashboard, options.server ?? SERVER), null, 2)}\n`,
  }));
}
