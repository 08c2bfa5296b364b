import { loadConfig, type LoadedConfig } from "../runtime/config/load.ts";
import { runsDemo, withDemoLedger } from "../services/demo-config.ts";

/**
 * Loads the configuration for a command that asks the ledger: by the rules of the demo where the same configuration makes `up` run
 * the demo. Fails with a `ConfigError`.
 */
export function loadLedgerConfig(path: string | undefined, env: NodeJS.ProcessEnv): LoadedConfig {
  const loaded = loadConfig(path, env);
  const { config } = loaded;
  return config.store.kind === "embedded" && runsDemo(config) ? { ...loaded, config: withDemoLedger(config) } : loaded;
}
