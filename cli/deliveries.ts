import { Option, type Command } from "commander";
import { listDeliveries } from "../reports/delivery/list.ts";
import { RetryError, retryDeliveries } from "../reports/delivery/retry.ts";
import { periodName } from "../reports/delivery/schedule.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { loadConfig } from "../runtime/config/load.ts";
import { CommandError, type CommandContext } from "./context.ts";
import { deliveriesText } from "./deliveries/text.ts";
import { openStore } from "./store.ts";
import { whoRuns } from "./who.ts";

interface ListOptions {
  readonly config?: string;
  readonly format: "table" | "json";
}

interface RetryOptions {
  readonly config?: string;
  readonly recipient?: string;
  readonly period?: string;
  readonly by?: string;
  readonly why?: string;
}

/** Adds `gpu-ledger deliveries [retry]`: the delivered reports with their recipients, and the reports that are owed. */
export function addDeliveries(program: Command, context: CommandContext): void {
  const { stdout, env } = context;
  async function inStore<Value>(
    path: string | undefined,
    act: (store: StoreClient, config: Config) => Promise<Value>,
  ): Promise<Value> {
    const { config } = loadConfig(path, env);
    const store = await openStore(config);
    try {
      return await act(store, config);
    } finally {
      await store.close();
    }
  }

  const deliveries = program
    .command("deliveries")
    .description("list deliveries of reports, and retry failed ones; see docs/delivery.md");

  deliveries
    .command("list", { isDefault: true })
    .description("list the delivered and the open reports with their recipients and reasons")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .action(async ({ config: path, format }: ListOptions) => {
      const list = await inStore(path, (store, config) => listDeliveries(store, config.deliveries, Date.now()));
      stdout.write(`${format === "json" ? JSON.stringify(list, null, 2) : deliveriesText(list)}\n`);
    });

  deliveries
    .command("retry")
    .description("retry failed or abandoned deliveries immediately")
    .argument("<delivery>", "the delivery's name in the configuration")
    .option("--recipient <name>", "only this recipient")
    .option("--period <period>", "only this period, such as 2026-03")
    .option("--by <name>", "the person for the audit trail (default: the current user)")
    .option("--why <text>", "the reason for the audit trail")
    .option("--config <file>", "the configuration")
    .action(async (delivery: string, options: RetryOptions) => {
      const { config, recipient, period, by = whoRuns(), why = "" } = options;
      try {
        const retried = await inStore(config, (store) =>
          retryDeliveries(store, { delivery, recipient, period }, { by, why }, Date.now()),
        );
        for (const occasion of retried)
          stdout.write(`${occasion.delivery} to ${occasion.recipient}, ${periodName(occasion)}, is tried again\n`);
      } catch (error) {
        throw error instanceof RetryError ? new CommandError(error.message) : error;
      }
    });
}
