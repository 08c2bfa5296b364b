import { Option, type Command } from "commander";
import type { UpOptions } from "./actions/up.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger up`: everything on this machine, in one process group; without a configuration, on the demo fleet. */
export function addUp(program: Command, context: CommandContext): void {
  program
    .command("up")
    .description("run all parts on this machine; without configured targets, with a demo fleet")
    .option("--config <file>", "the configuration")
    .option("--gpus <count>", "GPUs of the demo fleet")
    .addOption(new Option("--log <form>", "json: the log on standard error, also on a terminal").choices(["json"]))
    .action(async (options: UpOptions) => (await import("./actions/up.ts")).runUp(options, context));
}
