import { Option, type Command } from "commander";
import { CHARGE_STATES } from "../domain/charge/charge.ts";
import type { ExplainOptions } from "./actions/explain.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger explain`: the reasons of a charge, down to the samples. */
export function addExplain(program: Command, context: CommandContext): void {
  program
    .command("explain")
    .description("explain a charge down to its samples: state, rule, owner, price, workloads, evidence and coverage")
    .argument("[line]", "a GPU at a time, cluster/node/gpu@2026-03-02T10:15:00Z (default: the charges of the options)")
    .option("--month <month>", "the bookings of a month, such as 2026-03 (default: the running month)")
    .option("--span <span>", "the usage in a time instead: 2026-03-01/2026-03-15, 7d, today, …")
    .option("--team <team>", "the payer: a team, platform or unowned")
    .addOption(new Option("--state <state>", "the state of the time").choices(CHARGE_STATES))
    .option("--namespace <namespace>", "the namespace of the holders")
    .option("--where <conditions...>", "only lines with these values, such as workload=train costCenter=4711", [])
    .option("--policy <name>", "a policy (default: the billing policy)")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]).default("text"))
    .action(async (line: string | undefined, options: ExplainOptions) =>
      (await import("./actions/explain.ts")).runExplain(line, options, context),
    );
}
