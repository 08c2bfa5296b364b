import { Argument, Option, type Command } from "commander";
import { FOCUS_DATASETS } from "../reports/format/names.ts";
import type { FocusDatasetOptions } from "./actions/focus.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger focus`: the datasets of FOCUS beside Cost and Usage, which `report` and `serving` write. */
export function addFocusDatasets(program: Command, context: CommandContext): void {
  program
    .command("focus")
    .description("write the billing periods, the statements as invoices, or the commitments as datasets of FOCUS 1.4")
    .addArgument(new Argument("<dataset>", "see docs/focus.md").choices(Object.keys(FOCUS_DATASETS)))
    .argument("[period]", "a month, such as 2026-03 (default: all)")
    .addOption(new Option("--format <format>", "csv or parquet").choices(["csv", "parquet"]).default("csv"))
    .option("--out <file>", "write to a file, which appears only when it is complete, with its manifest")
    .option("--config <file>", "the configuration")
    .action(async (dataset: string, period: string | undefined, options: FocusDatasetOptions) =>
      (await import("./actions/focus.ts")).runFocus(dataset, period, options, context),
    );
}
