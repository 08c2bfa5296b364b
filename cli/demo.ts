import type { Command } from "commander";
import type { DemoOptions } from "./actions/demo.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger demo`: the demo fleet alone, for tests with a collector, a Prometheus or other programs. */
export function addDemo(program: Command, context: CommandContext): void {
  program
    .command("demo")
    .description(
      "run only the demo fleet: its exporters, its API server and kube-state-metrics, and its history over the bus",
    )
    .option("--config <file>", "the configuration")
    .action(async (options: DemoOptions) => (await import("./actions/demo.ts")).runDemo(options, context));
}
