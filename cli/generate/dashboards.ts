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
    .description("write the dashboards of Grafana, for import or provisioning")
    .requiredOption("--out <folder>", "the folder to write to")
    .option(
      "--config <file>",
      "the configuration of the alerts, for the rules that the dashboards read (default: the default values)",
    )
    .option("--server <url>", "the address of gpu-ledger's pages, for links (default: from the configuration)")
    .option("--currency <code>", "the currency of the price book", DEFAULT_DASHBOARD_OPTIONS.currency)
    .option("--policy <name>", "the policy that is selected first (default: the first kept policy)")
    .action(({ out, config, server, currency, policy }: Asked) => {
      const options = alertOptionsOf(loadAlertConfig(config, env).config);
      write(out, dashboardFiles({ ...options, server: server ?? options.server, currency, policy }));
    });
}
