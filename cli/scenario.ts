import { Option, type Command } from "commander";
import { DEFAULT_DIMENSIONS } from "../domain/charge/dimension.ts";
import { PRINT_FORMATS } from "../reports/format/names.ts";
import type { ScenariosOptions } from "./actions/scenario.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger scenario FILE…`: the cost of described fleets, computed by the real pipeline in a temporary folder. */
export function addScenario(program: Command, context: CommandContext): void {
  program
    .command("scenario")
    .description(
      "play scenarios of fleets through the whole pipeline, and print the bill of each one under each policy",
    )
    .argument("<file...>", "scenarios in YAML; see docs/scenarios.md")
    .option("--by <dimensions>", "the dimensions of the lines", DEFAULT_DIMENSIONS.join(","))
    .addOption(new Option("--format <format>", "the format of the output").choices([...PRINT_FORMATS]).default("table"))
    .action(async (files: readonly string[], options: ScenariosOptions) =>
      (await import("./actions/scenario.ts")).runScenarios(files, options, context),
    );
}
