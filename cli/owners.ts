import { Option, type Command } from "commander";
import type { OwnersCheckOptions } from "./actions/owners.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger owners check`: usage without an owner, by cost. */
export function addOwners(program: Command, context: CommandContext): void {
  const owners = program.command("owners").description("show the owners of workloads");
  owners
    .command("check")
    .description("list the workloads of the last days without a team by the configuration's rules (highest cost first)")
    .option("--config <file>", "the configuration")
    .option("--days <count>", "the number of days", "7")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .action(async (options: OwnersCheckOptions) =>
      (await import("./actions/owners.ts")).runOwnersCheck(options, context),
    );
}
