import { Option, type Command } from "commander";
import type { DeliveriesListOptions, DeliveriesRetryOptions } from "./actions/deliveries.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger deliveries [retry]`: the delivered reports with their recipients, and the reports that are owed. */
export function addDeliveries(program: Command, context: CommandContext): void {
  const deliveries = program
    .command("deliveries")
    .description("list deliveries of reports, and retry failed ones; see docs/delivery.md");

  deliveries
    .command("list", { isDefault: true })
    .description("list the delivered and the open reports with their recipients and reasons")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .action(async (options: DeliveriesListOptions) =>
      (await import("./actions/deliveries.ts")).runDeliveriesList(options, context),
    );

  deliveries
    .command("retry")
    .description("retry failed or abandoned deliveries immediately")
    .argument("<delivery>", "the delivery's name in the configuration")
    .option("--recipient <name>", "only this recipient")
    .option("--period <period>", "only this period, such as 2026-03")
    .option("--by <name>", "the person for the audit trail (default: the current user)")
    .option("--why <text>", "the reason for the audit trail")
    .option("--config <file>", "the configuration")
    .action(async (delivery: string, options: DeliveriesRetryOptions) =>
      (await import("./actions/deliveries.ts")).runDeliveriesRetry(delivery, options, context),
    );
}
