import type { Command } from "commander";
import type { CollectOptions } from "./actions/collect.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger collect`: a separate collector, for any number of machines. Shards share the targets. */
export function addCollect(program: Command, context: CommandContext): void {
  program
    .command("collect")
    .description("scrape the exporters of the configuration and send the samples over the bus")
    .option("--config <file>", "the configuration")
    .option("--shard <index/count>", "this collector's part of the targets, such as 0/2 (default: all targets)")
    .option("--shards <count>", "the number of pods of a StatefulSet; the index is the end of the pod's name")
    .action(async (options: CollectOptions) => (await import("./actions/collect.ts")).runCollect(options, context));
}
