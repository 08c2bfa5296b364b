import { Option, type Command } from "commander";
import type { SnapshotOptions } from "./actions/snapshot.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger snapshot`: the GPUs of a cluster now, their holders, their cost, and the largest wastes. Nothing is stored. */
export function addSnapshot(program: Command, context: CommandContext): void {
  program
    .command("snapshot")
    .description(
      "show what a cluster's GPUs cost now, who holds them and what is wasted, with nothing but a kubeconfig",
    )
    .option("--kubeconfig <file>", "a kubeconfig; kubectl's own by default")
    .option("--context <name>", "a context of the kubeconfig; the current one by default")
    .option("--objects <file...>", "Kubernetes objects in YAML or JSON, instead of a live cluster")
    .option("--pages <file...>", "saved pages of exporters, or NODE=FILE for the page of one node")
    .option("--cluster <name>", "the name of the cluster", "default")
    .option("--prices <file>", "your price book; public list prices by default")
    .option("--config <file>", "a configuration with your prices, owners and resource names")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .option("--html <file>", "write the snapshot to one HTML file to send to others")
    .action(async (options: SnapshotOptions) => (await import("./actions/snapshot.ts")).runSnapshot(options, context));
}
