import { Option, type Command } from "commander";
import { DEFAULT_DIMENSIONS } from "../domain/charge/dimension.ts";
import { PRINT_FORMATS } from "../reports/format/names.ts";
import type { BillOptions } from "./actions/bill.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger bill`: the bill of a month under any policy of the configuration, kept or not. */
export function addBill(program: Command, context: CommandContext): void {
  program
    .command("bill")
    .description("compute the bill of a month from the metered usage, under one or more policies side by side")
    .argument("<period>", "a month, such as 2026-03")
    .option("--policy <name...>", "policies of the configuration, kept or not (default: the billing policy)", [])
    .option("--by <dimensions>", "the dimensions of the lines", DEFAULT_DIMENSIONS.join(","))
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "the format of the output").choices([...PRINT_FORMATS]).default("table"))
    .action(async (name: string, options: BillOptions) =>
      (await import("./actions/bill.ts")).runBill(name, options, context),
    );
}
