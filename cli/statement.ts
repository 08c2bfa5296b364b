import { Option, type Command } from "commander";
import type { StatementOptions } from "./actions/statement.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger statement`: the amount that each team pays for a month, open or closed. */
export function addStatement(program: Command, context: CommandContext): void {
  program
    .command("statement")
    .description("show the cost of a month by team and cost center: exact, and posted if the month is closed")
    .argument("[period]", "a month, such as 2026-03 (default: the running month)")
    .option("--team <team>", "one team; platform and unowned are teams too")
    .option("--policy <name>", "a kept policy (default: the billing policy)")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]).default("text"))
    .action(async (name: string | undefined, options: StatementOptions) =>
      (await import("./actions/statement.ts")).runStatement(name, options, context),
    );
}
