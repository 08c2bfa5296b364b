import { join } from "node:path";
import type { Config } from "../runtime/config/schema.ts";
import { createStoreClient, type StoreClient } from "../runtime/store/client.ts";
import { connectStore, outsideStore } from "../runtime/store/connection.ts";
import { readUser } from "../runtime/store/embedded/credentials.ts";
import { storeFolder } from "../runtime/store/embedded/store-folder.ts";
import { CommandError } from "./context.ts";
import type { SystemStatus } from "../services/system.ts";

/**
 * Opens the store of a configuration for a command that reads it: an outside ClickHouse, or the embedded store of the `up` that runs with
 * the same configuration. Fails with a sentence if there is none.
 */
export async function openStore(config: Config): Promise<StoreClient> {
  const outside = outsideStore(config);
  if (outside !== undefined) return connectStore(outside, config);
  const address = `http://${config.server.listen}`;
  try {
    const user = readUser(storeFolder(join(config.data, "store")).credentialsFile);
    if (user === undefined) throw new Error("the store has never run");
    const answer = await fetch(`${address}/api/status`, { signal: AbortSignal.timeout(5_000) });
    const { store } = (await answer.json()) as SystemStatus;
    return createStoreClient({ url: store.url, ...user, database: config.store.database });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      `the store of ${config.data} cannot be read: it runs only while \`gpu-ledger up\` runs on ${address} (${why})`,
    );
  }
}
