import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ledgerOf, type Ledger } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";
import { withLedger } from "../services/begun-ledger.ts";
import { createStoreClient, type StoreClient } from "../runtime/store/client.ts";
import { connectStore, outsideStore } from "../runtime/store/connection.ts";
import { readUser } from "../runtime/store/embedded/credentials.ts";
import { storeFolder } from "../runtime/store/embedded/store-folder.ts";
import { LIST_PRICED } from "../runtime/config/list-prices.ts";
import { CommandError, errorText, type CommandContext } from "./context.ts";

/** An open store, and the rules by which its processors charge. */
export interface OpenLedger {
  readonly store: StoreClient;
  /** The configuration, in which list prices are decided. */
  readonly config: Config;
  readonly ledger: Ledger;
}

/** Opens the store of a configuration for a command that prints money. Prints a sentence if the prices are list prices. Fails as {@link openStore}. */
export async function openLedger(given: Config, { stderr }: Pick<CommandContext, "stderr">): Promise<OpenLedger> {
  const store = await openStore(given);
  try {
    const config = await withLedger(given, store);
    const ledger = ledgerOf(config);
    if (ledger.book.isList === true) stderr.write(`${LIST_PRICED}\n`);
    return { store, config, ledger };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Opens the store of a configuration for a command that reads it: an outside ClickHouse, or the embedded store of the `up` that runs with
 * the same configuration. Fails with a sentence if there is none.
 */
export async function openStore(config: Config): Promise<StoreClient> {
  const outside = outsideStore(config);
  if (outside !== undefined) return connectStore(outside, config);
  const { credentialsFile, addressFile } = storeFolder(join(config.data, "store"));
  try {
    const user = readUser(credentialsFile);
    if (user === undefined) throw new Error("the store has never run");
    const store = createStoreClient({
      url: readFileSync(addressFile, "utf8"),
      ...user,
      database: config.store.database,
    });
    await store.query("SELECT 1 AS one");
    return store;
  } catch (error) {
    throw new CommandError(
      `the store of ${config.data} cannot be read: it runs only while \`gpu-ledger up\` runs with this folder (${errorText(error)})`,
    );
  }
}
