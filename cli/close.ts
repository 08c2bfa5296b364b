import { Option, type Command } from "commander";
import type { CloseOptions } from "./actions/close.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger close`: freezes a billing period, or shows what it would freeze. */
export function addClose(program: Command, context: CommandContext): void {
  program
    .command("close")
    .description("close a billing period finally, with a statement for each team and cost center; see docs/closing.md")
    .argument("<period>", "a month, such as 2026-03")
    .option("--dry-run", "show the figures that would be frozen, and the changes since the last dry run")
    .option("--invoice <file>", "the invoice in YAML or CSV; differences become true-ups")
    .option("--provisional", "close although exports of the month have no invoice of the provider yet")
    .option("--list-prices", "close charges by public list prices too, which nobody has checked")
    .option("--by <name>", "the person who closes the period (default: the current user)")
    .option("--why <text>", "the reason; required without --dry-run")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]).default("text"))
    .action(async (name: string, options: CloseOptions) =>
      (await import("./actions/close.ts")).runClose(name, options, context),
    );
}
