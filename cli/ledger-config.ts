import { loadConfig, type LoadedConfig } from "../runtime/config/load.ts";
import { runsDemo, withDemoLedger } from "../services/demo-config.ts";

/**
 * Loads the configuration for a command that reads the ledger. It has the demo's rules if `up` with the same configuration runs the demo.
 * Fails with a `ConfigError`.
 */
export function loadLedgerConfig(path: string | undefined, env: NodeJS.ProcessEnv): LoadedConfig {
  const loaded = loadConfig(path, env);
  const { config } = loaded;
  return config.store.kind === "embedded" && runsDemo(config) ? { ...loaded, config: withDemoLedger(config) } : loaded;
}
