import { Option, type Command } from "commander";
import type { RunsOptions } from "./actions/runs.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger runs`: the bills of training runs, the report of one run, or the cost of faults. */
export function addRuns(program: Command, context: CommandContext): void {
  program
    .command("runs")
    .description("list training runs, report the bill of one, or list incidents and their cost; see docs/training.md")
    .argument("[run]", "the id of a run, or the name of its owner: the last run of that name")
    .option("--span <span>", "the time in which runs existed or incidents began: 2026-03, 7d, …", "30d")
    .option("--team <team>", "only runs of a team")
    .option("--incidents", "faults of nodes and stops of runs, with their cost, instead of runs")
    .option("--policy <name>", "a policy (default: the billing policy)")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .action(async (run: string | undefined, options: RunsOptions) =>
      (await import("./actions/runs.ts")).runRuns(run, options, context),
    );
}
