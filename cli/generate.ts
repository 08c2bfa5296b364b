import type { Command } from "commander";
import { ALERT_GROUPS } from "../alerts/catalog/definition.ts";
import { DEFAULT_DASHBOARD_OPTIONS } from "../dashboards/options.ts";
import type { LeavingFiles } from "./actions/generate.ts";
import type { GenerateAlertsOptions, GenerateExporterConfigOptions } from "./actions/generate-alerts.ts";
import type { GenerateDashboardsOptions } from "./actions/generate-dashboards.ts";
import type { GenerateStoreReadersOptions } from "./actions/generate-store-readers.ts";
import type { CommandContext } from "./context.ts";

/** Subcommands that will go: their work, and the files that replace them. */
const LEAVING: Readonly<Record<LeavingFiles, readonly [what: string, successor: string]>> = {
  config: ["write the JSON Schemas of the configurations, for editors", "config/*.schema.json of the package"],
  metrics: ["write the tables of the program's own metrics and of its alerts", "docs/metrics.md and docs/alerts.md"],
  manifests: ["copy the objects that run gpu-ledger on a Kubernetes cluster", "deploy/kubernetes of the package"],
};

/** Adds `gpu-ledger generate … --out DIR`: files that are derived from the code. */
export function addGenerate(program: Command, context: CommandContext): void {
  const generate = program.command("generate").description("write files that are derived from the code");
  const add = (name: string, description: string): Command =>
    generate.command(name).description(description).requiredOption("--out <folder>", "the folder to write to");

  for (const [name, [what, successor]] of Object.entries(LEAVING))
    add(name, `${what} (will go: use ${successor})`).action(async ({ out }: { out: string }) =>
      (await import("./actions/generate.ts")).runGenerate(name as LeavingFiles, { out, successor }, context),
    );
  addAlerts(add, context);
  add("dashboards", "write the dashboards of Grafana, for import or provisioning")
    .option(
      "--config <file>",
      "the configuration of the alerts, for the rules that the dashboards read (default: the default values)",
    )
    .option("--server <url>", "the address of gpu-ledger's pages, for links (default: from the configuration)")
    .option("--currency <code>", "the currency of the price book", DEFAULT_DASHBOARD_OPTIONS.currency)
    .option("--policy <name>", "the policy that is selected first (default: the first kept policy)")
    .action(async (options: GenerateDashboardsOptions) =>
      (await import("./actions/generate-dashboards.ts")).runGenerateDashboards(options, context),
    );
  add(
    "store-readers",
    "write SQL that creates ClickHouse users with read access, for all teams or for one; see docs/access.md",
  )
    .option("--config <file>", "the configuration, for the database and the cluster")
    .option(
      "--team <team>",
      "a team with its own user, who can read only the team's rows; can be repeated",
      collect,
      [],
    )
    .action(async (options: GenerateStoreReadersOptions) =>
      (await import("./actions/generate-store-readers.ts")).runGenerateStoreReaders(options, context),
    );
  add("secrets", "create random passwords and tokens for a stack, one file each; existing files stay").action(
    async ({ out }: { out: string }) =>
      (await import("./actions/generate-secrets.ts")).runGenerateSecrets(out, context),
  );
}

/** Adds `gpu-ledger generate alerts|exporter-config`. */
function addAlerts(add: (name: string, description: string) => Command, context: CommandContext): void {
  add("alerts", "write the rules of Prometheus and the routes of Alertmanager")
    .option(
      "--config <file>",
      "the configuration of the alerts, such as config/alerts.example.yaml (default: the default values)",
    )
    .option("--only <groups>", `groups of alerts, separated by commas: ${ALERT_GROUPS.join(", ")}`)
    .option("--prefix <text>", "a prefix for the names of all alerts and groups")
    .option("--rules <form>", "files of Prometheus, or objects (PrometheusRule) of its operator", "files")
    .option("--namespace <name>", "the namespace of the objects")
    .option(
      "--label <name=value>",
      "a label of the objects, such as release=kube-prometheus-stack; can be repeated",
      collect,
      [],
    )
    .option(
      "--alertmanager <form>",
      "the form of Alertmanager's configuration: fragment, full, or crd (AlertmanagerConfig)",
    )
    .action(async (options: GenerateAlertsOptions) =>
      (await import("./actions/generate-alerts.ts")).runGenerateAlerts(options, context),
    );
  add("exporter-config", "write the configuration of dcgm-exporter that all alerts need: counters and values of charts")
    .option("--config <file>", "the configuration of the alerts (default: the default values)")
    .option("--names <form>", "field names of DCGM: classic up to 4.6, dcgm-4.7 from 4.7 on", "classic")
    .action(async (options: GenerateExporterConfigOptions) =>
      (await import("./actions/generate-alerts.ts")).runGenerateExporterConfig(options, context),
    );
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
