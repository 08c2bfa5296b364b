import { Option, type Command } from "commander";
import type { CheckOptions } from "./actions/check.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger check`: tries every connection and permission of the configuration, and prints the results. */
export function addCheck(program: Command, context: CommandContext): void {
  program
    .command("check")
    .description("test all parts of the configuration, and show which parts work")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .action(async (options: CheckOptions) => (await import("./actions/check.ts")).runCheck(options, context));
}
