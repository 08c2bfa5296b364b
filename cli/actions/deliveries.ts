import { listDeliveries } from "../../reports/delivery/list.ts";
import { RetryError, retryDeliveries } from "../../reports/delivery/retry.ts";
import { periodName } from "../../reports/delivery/schedule.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { deliveriesText } from "../deliveries/text.ts";
import { openStore } from "../store.ts";
import { whoRuns } from "../who.ts";

/** The options of `gpu-ledger deliveries list`. */
export interface DeliveriesListOptions {
  readonly config?: string;
  readonly format: "table" | "json";
}

/** The options of `gpu-ledger deliveries retry`. */
export interface DeliveriesRetryOptions {
  readonly config?: string;
  readonly recipient?: string;
  readonly period?: string;
  readonly by?: string;
  readonly why?: string;
}

/** Prints the delivered and the open reports. */
export async function runDeliveriesList(
  { config: path, format }: DeliveriesListOptions,
  { stdout, env }: CommandContext,
): Promise<void> {
  const list = await inStore(path, env, (store, config) => listDeliveries(store, config.deliveries, Date.now()));
  stdout.write(`${format === "json" ? JSON.stringify(list, null, 2) : deliveriesText(list)}\n`);
}

/** Retries deliveries and prints each one. Fails with a `CommandError` if there is nothing to retry. */
export async function runDeliveriesRetry(
  delivery: string,
  options: DeliveriesRetryOptions,
  { stdout, env }: CommandContext,
): Promise<void> {
  const { config, recipient, period, by = whoRuns(), why = "" } = options;
  try {
    const retried = await inStore(config, env, (store) =>
      retryDeliveries(store, { delivery, recipient, period }, { by, why }, Date.now()),
    );
    for (const occasion of retried)
      stdout.write(`${occasion.delivery} to ${occasion.recipient}, ${periodName(occasion)}, is tried again\n`);
  } catch (error) {
    throw error instanceof RetryError ? new CommandError(error.message) : error;
  }
}

async function inStore<Value>(
  path: string | undefined,
  env: NodeJS.ProcessEnv,
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
