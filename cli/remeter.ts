import { Option, type Command } from "commander";
import type { RemeterOptions } from "./actions/remeter.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger remeter`: meters open hours by this release, or shows what that would change. */
export function addRemeter(program: Command, context: CommandContext): void {
  program
    .command("remeter")
    .description(
      "meter the hours of open periods again by this release, or show what would change; see docs/upgrades.md",
    )
    .argument("[span]", "2026-03, 2026-03-01/2026-03-15, 7d, today, lastmonth, …", "month")
    .option("--dry-run", "show what the hours would cost by team, and change nothing")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]).default("text"))
    .action(async (name: string, options: RemeterOptions) =>
      (await import("./actions/remeter.ts")).runRemeter(name, options, context),
    );
}
