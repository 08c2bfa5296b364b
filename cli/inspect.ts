import type { Command } from "commander";
import type { InspectOptions } from "./actions/inspect.ts";
import type { CommandContext } from "./context.ts";

/**
 * Adds `gpu-ledger inspect URL|FILE`: what a collector reads from the page of an exporter, an inference engine or a gateway, or from
 * Kubernetes objects, and what it leaves out, with reasons.
 */
export function addInspect(program: Command, context: CommandContext): void {
  program
    .command("inspect")
    .description(
      "show the values read from the page of an exporter, an inference engine or a gateway, or from Kubernetes YAML or JSON, and the ignored parts with reasons",
    )
    .argument("<url-or-file>", "an exporter's address, a saved page or manifest, or - for standard input")
    .option("--format <format>", "table or json", "table")
    .option(
      "--tenant <labels>",
      "the labels with the tenant of a gateway, separated by commas, as in the key tenant of a job",
    )
    .option("--bearer-token-file <path>", "a file with a bearer token")
    .option("--insecure-skip-verify", "trust any certificate")
    .option("--timeout <seconds>", "the longest wait for a page", "10")
    .action(async (source: string, options: InspectOptions) =>
      (await import("./actions/inspect.ts")).runInspect(source, options, context),
    );
}
