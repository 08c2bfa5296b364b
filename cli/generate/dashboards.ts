import type { Command } from "commander";
import type { GeneratedFile } from "../../alerts/exporter/files.ts";
import { dashboardFiles } from "../../dashboards/files.ts";
import { DEFAULT_DASHBOARD_OPTIONS } from "../../dashboards/options.ts";
import { alertOptionsOf, loadAlertConfig } from "../alerts/config.ts";
import type { CommandContext } from "../context.ts";

interface Asked {
  readonly out: string;
  readonly config?: string;
  readonly server?: string;
  readonly currency: string;
  readonly policy?: string;
}

/** Adds `gpu-ledger generate dashboards`. The dashboards read the series that the rules of the same configuration record. */
export function addGenerateDashboards(
  generate: Command,
  { env }: CommandContext,
  write: (out: string, files: readonly GeneratedFile[]) => void,
): void {
  generate
    .command("dashboards")
    .description("write Grafana's dashboards, to import or to provision it with")
    .requiredOption("--out <folder>", "where to write")
    .option("--config <file>", "the alerts' configuration, for the rules that they read; the defaults without one")
    .option("--server <url>", "the address of gpu-ledger's pages, for links; else the configuration's")
    .option("--currency <code>", "the price book's", DEFAULT_DASHBOARD_OPTIONS.currency)
    .option("--policy <name>", "the policy that money is told by at first; else the first of those that are kept")
    .action(({ out, config, server, currency, policy }: Asked) => {
      const options = alertOptionsOf(loadAlertConfig(config, env).config);
      write(out, dashboardFiles({ ...options, server: server ?? options.server, currency, policy }));
    });
}
