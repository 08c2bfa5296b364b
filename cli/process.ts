import type { Command } from "commander";
import type { ProcessOptions } from "./actions/process.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger process`: a separate processor. All processors share the partitions of the bus. */
export function addProcess(program: Command, context: CommandContext): void {
  program
    .command("process")
    .description("read the messages of the bus, join them and store them")
    .option("--config <file>", "the configuration")
    .action(async (options: ProcessOptions) => (await import("./actions/process.ts")).runProcess(options, context));
}
