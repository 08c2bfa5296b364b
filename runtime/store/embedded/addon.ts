/**
 * chDB's native addon, with the types that the embedded store uses.
 *
 * The package's own JavaScript is not used for three measured reasons (chdb 3.4.0): its `insert` refuses binary formats and cuts other
 * bodies at the first empty line, its parameters wait in one chain for the whole process, and its `close` waits for the slowest query of
 * all connections.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

declare const nativeConnectionBrand: unique symbol;

/** A connection of the addon, opaque to other code. */
export interface NativeConnection {
  readonly [nativeConnectionBrand]: true;
}

/** The engine's result of one statement. For an insert, `rowsRead` counts the written rows. */
export interface NativeResult {
  readonly bytes: Buffer;
  readonly elapsed: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

/** The engine's own classification of a text, by its parser, without executing anything. */
export interface NativeClassification {
  readonly statementCount: number;
  /** 0 reads, 1 and 2 write, 3 controls the engine or writes outside of it, 4 did not parse. */
  readonly queryClass: number;
}

/** The functions of the addon that the embedded store calls. A connection runs one statement at a time. */
export interface ChdbAddon {
  EngineVersion(): string;
  CreateConnection(path: string, connectionArguments: readonly string[]): NativeConnection;
  CloseConnection(connection: NativeConnection): void;
  QueryAsyncConnection(connection: NativeConnection, sql: string, format: string): Promise<NativeResult>;
  DurableClassifyAsync(
    connection: NativeConnection,
    sql: string,
    targetDatabase: string | null,
  ): Promise<NativeClassification>;
}

const neededFunctions = [
  "EngineVersion",
  "CreateConnection",
  "CloseConnection",
  "QueryAsyncConnection",
  "DurableClassifyAsync",
] as const;

/** Returns the version of the installed chDB, without loading the engine. */
export function chdbVersion(): string {
  const file = createRequire(import.meta.url).resolve("chdb/package.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}

/** Loads the addon of this platform. Throws with the missing functions if the installed chDB has another interface. */
export function loadChdbAddon(): ChdbAddon {
  const require = createRequire(import.meta.url);
  // The loader selects the platform's package. The `exports` of chdb do not list it, so it is loaded by its path.
  const loader = require(join(dirname(require.resolve("chdb/package.json")), "dist/loader.js")) as {
    loadNative(): Readonly<Record<string, unknown>>;
  };
  const addon = loader.loadNative();
  const missing = neededFunctions.filter((name) => typeof addon[name] !== "function");
  if (missing.length > 0) throw new Error(`The installed chDB lacks ${missing.join(", ")}; 3.4.0 has them.`);
  return addon as unknown as ChdbAddon;
}
