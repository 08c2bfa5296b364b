import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError } from "./config-error.ts";
import { createConfigSchema, type Config } from "./schema.ts";
import { readYaml } from "./yaml.ts";

/** The files to look for if no configuration is named. */
export const DEFAULT_FILES: readonly string[] = ["gpu-ledger.yaml", "/etc/gpu-ledger/gpu-ledger.yaml"];

/** A configuration and its file. `path` is undefined if only the defaults apply. */
export interface LoadedConfig {
  readonly config: Config;
  readonly path: string | undefined;
}

/** Loads the named file, or the first default file that exists, or the defaults. Fails with {@link ConfigError}. */
export function loadConfig(path: string | undefined, env: NodeJS.ProcessEnv): LoadedConfig {
  const found = path ?? DEFAULT_FILES.find((path) => existsSync(path));
  if (found === undefined) return { config: parseConfig("", { source: "the default", folder: ".", env }), path: found };
  let text: string;
  try {
    text = readFileSync(found, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(found, [{ key: "--config", value: found, allowed: `a file that can be read (${why})` }]);
  }
  return { config: parseConfig(text, { source: found, folder: dirname(found), env }), path: found };
}

/**
 * Reads a configuration from its YAML text. Relative paths of secrets and certificates start at `folder`. Fails with {@link ConfigError}.
 */
export function parseConfig(
  text: string,
  options: { readonly source: string; readonly folder: string; readonly env: NodeJS.ProcessEnv },
): Config {
  const { source, folder, env } = options;
  const resolvePath = (path: string): string => resolve(folder, path);
  const schema = createConfigSchema({ env, resolvePath, readFile: (path) => readFileSync(resolvePath(path), "utf8") });
  const read = readYaml(text, schema, { env, keys: "see config/gpu-ledger.example.yaml" });
  if ("problems" in read) throw new ConfigError(source, read.problems);
  return read.value;
}
