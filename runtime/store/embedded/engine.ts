/**
 * The engine: chDB on one data folder, with a new connection for every request.
 *
 * A connection costs 0.2 ms and 0.1 MB and is used once, because its state affects the next request: `SET`, `USE`, parameters, temporary
 * tables, even the unread rest of a result that failed half-way (seen with chdb 3.4.0). So nothing leaks, and nothing must be reset.
 */
import { loadChdbAddon } from "./addon.ts";
import type { NativeClassification, NativeResult } from "./addon.ts";
import { writeEngineConfig } from "./engine-config.ts";
import type { EngineLimits } from "./engine-config.ts";
import { adapterErrorOf } from "./adapter-error.ts";
import type { StoreFolder } from "./store-folder.ts";

/** The connection of one request. Statements run one after the other. Every failure is an `AdapterError`. */
export interface EngineConnection {
  query(sql: string, format: string): Promise<NativeResult>;
  /** Classifies a text with the engine's parser. Nothing is executed. */
  classify(sql: string): Promise<NativeClassification>;
}

/** The engine on its folder. */
export interface Engine {
  /** The engine's version, for example `26.7.2.1`. */
  readonly version: string;
  /** Opens a connection with these settings (`name` → value), passes it to `work`, and closes it in any case. */
  withConnection<Result>(
    settings: Readonly<Record<string, string | number>>,
    work: (connection: EngineConnection) => Promise<Result>,
  ): Promise<Result>;
  /** Releases the folder. All requests must have ended before. */
  close(): void;
}

/**
 * Settings of every connection. Introspection functions and statements without `SELECT`, which chDB enables by default, are off. Machine code for
 * expressions is off too: a store on one machine answers many small queries, and compiling costs more than it saves.
 */
const commonSettings: Readonly<Record<string, string | number>> = {
  implicit_select: 0,
  allow_introspection_functions: 0,
  async_insert: 0,
  wait_for_async_insert: 1,
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
};

/** Opens the engine on a folder. Fails if another process holds the folder; the engine writes the reason to stderr. */
export async function openEngine(paths: StoreFolder, limits: EngineLimits): Promise<Engine> {
  writeEngineConfig(paths, limits);
  const addon = loadChdbAddon();
  const open = (settings: Readonly<Record<string, string | number>>) =>
    addon.CreateConnection(paths.data, [
      `--config-file=${paths.configFile}`,
      ...Object.entries({ ...commonSettings, ...settings }).map(([name, value]) => `--${name}=${value}`),
    ]);
  // chDB releases the folder with the last connection. This connection keeps it between requests.
  const keeper = open({});
  const version = (await addon.QueryAsyncConnection(keeper, "SELECT version()", "TSVRaw")).bytes.toString().trim();

  return {
    version,
    async withConnection(settings, work) {
      const native = open(settings);
      try {
        return await work({
          query: (sql, format) => addon.QueryAsyncConnection(native, sql, format).catch(rethrowAsAdapterError),
          classify: (sql) => addon.DurableClassifyAsync(native, sql, null).catch(rethrowAsAdapterError),
        });
      } finally {
        addon.CloseConnection(native);
      }
    },
    close() {
      addon.CloseConnection(keeper);
    },
  };
}

function rethrowAsAdapterError(error: unknown): never {
  throw adapterErrorOf(error);
}
