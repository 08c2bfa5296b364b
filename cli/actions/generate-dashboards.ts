import { dashboardFiles } from "../../dashboards/files.ts";
import { alertOptionsOf, loadAlertConfig } from "../alerts/config.ts";
import type { CommandContext } from "../context.ts";
import { writeFiles } from "../generate/write-files.ts";

/** The options of `gpu-ledger generate dashboards`. */
export interface GenerateDashboardsOptions {
  readonly out: string;
  readonly config?: string;
  readonly server?: string;
  readonly currency: string;
  readonly policy?: string;
}

/** Writes the dashboards. They read the series that the rules of the same configuration record. */
export function runGenerateDashboards(
  { out, config, server, currency, policy }: GenerateDashboardsOptions,
  context: CommandContext,
): void {
  const options = alertOptionsOf(loadAlertConfig(config, context.env).config);
  writeFiles(out, dashboardFiles({ ...options, server: server ?? options.server, currency, policy }), context);
}
