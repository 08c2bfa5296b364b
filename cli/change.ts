import { Option, type Command } from "commander";
import type { ChangeOptions } from "./actions/change.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger change`: the difference between the costs of two times, divided by its causes. */
export function addChange(program: Command, context: CommandContext): void {
  program
    .command("change")
    .description(
      "explain why a cost changed: the difference between two times by workload and cause; see docs/change.md",
    )
    .argument("[span]", "2026-03, 2026-03-01/2026-03-15, 7d, today, lastmonth, …", "month")
    .option("--compare <span>", "the time to compare with (default: an equal time before)")
    .option("--where <conditions...>", "only lines with these values, such as team=vision,nlp", [])
    .option("--policy <name>", "a kept policy (default: the billing policy)")
    .option("--top <count>", "the number of parts, largest first", "20")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .option("--config <file>", "the configuration")
    .action(async (name: string, options: ChangeOptions) =>
      (await import("./actions/change.ts")).runChange(name, options, context),
    );
}
