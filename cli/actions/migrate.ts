import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { READER, readerPasswordSql } from "../../reports/access/reader-sql.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { connectStore, migrateStore, outsideStore, type StoreAddress } from "../../runtime/store/connection.ts";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { CommandError, errorText, type CommandContext } from "../context.ts";

/** The options of `gpu-ledger migrate`. */
export interface MigrateOptions {
  readonly config?: string;
  readonly readerPassword?: string;
}

/** Migrates an outside store, and creates its reader if a file with the reader's password is given. */
export async function runMigrate(options: MigrateOptions, context: CommandContext): Promise<void> {
  const { config } = loadConfig(options.config, context.env);
  const address = outsideStore(config);
  if (address === undefined) {
    throw new CommandError("store.kind is embedded: `gpu-ledger up` migrates its own store when it starts", 2);
  }
  const passwordFile = options.readerPassword;
  const passwordHash = passwordFile === undefined ? undefined : hashOfPassword(passwordFile);
  const { applied, total } = await migrateStore(address, config, createLogger(config.log.level));
  const done = applied.length === 0 ? "nothing to do" : `applied ${applied.join(", ")}`;
  context.stdout.write(`${done}; ${total} migrations in all\n`);
  if (passwordHash === undefined) return;
  await makeReader(address, config, passwordHash);
  context.stdout.write(`${READER} may read, with the password of ${passwordFile}\n`);
}

/** Returns the SHA-256 of a file's text without its last line feed. */
function hashOfPassword(file: string): string {
  const wrong = (why: string): CommandError => new CommandError(`--reader-password ${file}: ${why}`, 2);
  let password: string;
  try {
    password = readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw wrong(errorText(error));
  }
  if (password === "") throw wrong("the file has no password");
  return createHash("sha256").update(password).digest("hex");
}

async function makeReader(address: StoreAddress, config: Config, passwordHash: string): Promise<void> {
  const database = { database: config.store.database, cluster: config.store.clickhouse?.cluster };
  const store = connectStore(address, config);
  try {
    for (const statement of readerPasswordSql(database, passwordHash)) await store.command(statement);
  } finally {
    await store.close();
  }
}
