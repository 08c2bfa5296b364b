import { Option, type Command } from "commander";
import type { ImportOptions } from "./actions/import.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger import prometheus`: fills the past of the ledger from a Prometheus that scraped the same exporters. */
export function addImport(program: Command, context: CommandContext): void {
  program
    .command("import")
    .description("fill the past from data that you already have")
    .command("prometheus")
    .description(
      "read the past of GPU exporters and kube-state-metrics from Prometheus, Thanos, Mimir or VictoriaMetrics; see docs/import.md",
    )
    .requiredOption(
      "--url <url>",
      "the server, with the prefix of its API if it has one, such as https://mimir/prometheus",
    )
    .requiredOption("--from <time>", "the beginning: a date or a time in UTC")
    .option("--until <time>", "the end: a date or a time in UTC (default: now)")
    .option("--cluster <name>", "the name of the cluster in the ledger (default: the configuration's)")
    .option("--match <label=value...>", "read only series with these labels, if the server has several clusters", [])
    .option("--token-file <file>", "a file with the bearer token")
    .option("--user <name>", "the user's name for basic authentication")
    .option("--password-file <file>", "a file with the user's password")
    .option("--tenant <id>", "the tenant, sent as X-Scope-OrgID")
    .option("--ca <file>", "the certificate authorities of the server, in PEM")
    .option("--max-load <part>", "the part of the time in which a request may be under way, such as 0.5", "1")
    .option("--ahead <messages>", "wait while more than this number of messages is not stored yet", "100000")
    .option("--allow-partial", "accept answers that the server calls incomplete, and count them at the end")
    .option("--again", "begin at --from, also if an earlier import was interrupted")
    .option("--dry-run", "show what the server has, what will be missing, and how long the import will take")
    .addOption(
      new Option("--format <format>", "the dry run as table or json").choices(["table", "json"]).default("table"),
    )
    .option("--config <file>", "the configuration")
    .action(async (options: ImportOptions) => (await import("./actions/import.ts")).runImport(options, context));
}
