/** Migrates a store's tables to the schema of this release: each migration once, in order, checked by its hash. */
import { setTimeout as sleep } from "node:timers/promises";

import type { Logger } from "pino";

import type { StoreClient } from "./client.ts";
import { loadMigrations, migrationNumber, mismatch } from "./migration-file.ts";
import type { MigrationFile } from "./migration-file.ts";
import { onCluster, renderTemplate } from "./migration-template.ts";
import type { TemplateValues } from "./migration-template.ts";
import { sqlIdentifier } from "./sql-tokens.ts";
import { StoreError } from "./store-error.ts";

/** The options of a migration. */
export interface MigrateOptions extends TemplateValues {
  /** Opens a client on a database of the store. `migrate` closes what it opens. */
  readonly connect: (database: string) => StoreClient;
  /** The folder of `NNNN_name.sql` files. */
  readonly folder: string;
  /** Statements that make views again, with the newest migration. They can be repeated, and have the placeholders of migrations. */
  readonly views: readonly string[];
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
}

/** The result of a migration. */
export interface MigrateOutcome {
  /** Names of the migrations that this call applied. */
  readonly applied: readonly string[];
  /** The number of all migrations. */
  readonly total: number;
}

/** A migration that is recorded in the store. */
export interface AppliedMigration {
  readonly name: string;
  readonly sha256: string;
}

const attemptsPerMigration = 5;
const attemptPauseMillis = 200;

/**
 * Applies the missing migrations and creates the database if necessary. Fails with `migration-mismatch` if a file was changed after it was
 * applied, if an earlier file is missing, or if the store is ahead of this release. Two processes may run this at once: every statement can
 * be repeated, and the other process's records are read again before and after.
 */
export async function migrate(options: MigrateOptions): Promise<MigrateOutcome> {
  const files = await loadMigrations(options.folder);
  await createDatabase(options);
  const client = options.connect(options.database);
  try {
    await client.command(renderTemplate(migrationsTable, options));
    const applied: string[] = [];
    for (const file of pendingMigrations(files, await readApplied(client))) {
      if (await applyOnce(client, file, files, options)) applied.push(file.name);
    }
    // The other process may be of another release.
    pendingMigrations(files, await readApplied(client));
    return { applied, total: files.length };
  } finally {
    await client.close();
  }
}

/** Returns the names of the migrations that `migrate` would apply, for checks that change nothing. Fails like `migrate`. */
export async function listPendingMigrations(client: StoreClient, folder: string): Promise<readonly string[]> {
  const files = await loadMigrations(folder);
  const applied = await readApplied(client).catch((error: unknown) => {
    // Before the first migration there is no table, and perhaps no database.
    if (error instanceof StoreError && error.code === "not-migrated") return [];
    throw error;
  });
  return pendingMigrations(files, applied).map((file) => file.name);
}

/** Returns the migrations that are not applied yet. Fails with `migration-mismatch` if files and store contradict each other. */
export function pendingMigrations(
  files: readonly MigrationFile[],
  applied: readonly AppliedMigration[],
): readonly MigrationFile[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const newest = files.at(-1)?.number ?? 0;
  let last = 0;
  for (const { name, sha256 } of applied) {
    const number = migrationNumber(name) ?? 0;
    const file = byName.get(name);
    if (number > newest) {
      throw mismatch(`The store was migrated by a newer release (${name}); this release has ${newest} migrations.`);
    }
    if (file === undefined) throw mismatch(`The store has ${name}, which this release does not have.`);
    if (file.sha256 !== sha256) {
      throw mismatch(`${name} was changed after it had been applied (${sha256.slice(0, 12)} is in the store).`);
    }
    last = Math.max(last, number);
  }
  const names = new Set(applied.map(({ name }) => name));
  const pending = files.filter((file) => !names.has(file.name));
  const skipped = pending.find((file) => file.number < last);
  if (skipped !== undefined) throw mismatch(`${skipped.name} was never applied, but a later migration was.`);
  return pending;
}

const migrationsTable = `
  CREATE TABLE IF NOT EXISTS $DATABASE.migrations $ON_CLUSTER (
    name String,
    sha256 String,
    applied_at DateTime64(3, 'UTC')
  )
  ENGINE = $ENGINE(ReplacingMergeTree, applied_at)
  ORDER BY (name, sha256)`;

async function createDatabase(options: MigrateOptions): Promise<void> {
  const client = options.connect("default");
  try {
    const name = sqlIdentifier(options.database);
    await client.command(`CREATE DATABASE IF NOT EXISTS ${name} ${onCluster(options)}`);
  } finally {
    await client.close();
  }
}

async function readApplied(client: StoreClient): Promise<readonly AppliedMigration[]> {
  return await client.query<AppliedMigration>("SELECT DISTINCT name, sha256 FROM migrations ORDER BY name, sha256");
}

/** Applies a migration. Returns whether this call applied it; `false` if another process was faster. */
async function applyOnce(
  client: StoreClient,
  file: MigrationFile,
  files: readonly MigrationFile[],
  options: MigrateOptions,
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const pending = pendingMigrations(files, await readApplied(client));
    if (!pending.includes(file)) return false;
    try {
      const statements = file === files.at(-1) ? [...file.statements, ...options.views] : file.statements;
      for (const statement of statements) await client.command(rendered(statement, file, options));
      await client.insertJson("migrations", [
        { name: file.name, sha256: file.sha256, applied_at: new Date(options.now()).toISOString() },
      ]);
      options.logger.info({ migration: file.name }, "a migration was applied");
      return true;
    } catch (error) {
      // If another process runs the same migration at the same moment, a statement can fail that succeeds a moment later.
      if (attempt === attemptsPerMigration || isFinal(error)) throw named(error, file);
      options.logger.warn({ err: error, migration: file.name, attempt }, "a migration is tried again");
      await sleep(attemptPauseMillis * attempt);
    }
  }
}

function rendered(statement: string, file: MigrationFile, values: TemplateValues): string {
  try {
    return renderTemplate(statement, values);
  } catch (error) {
    throw mismatch(`${file.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof StoreError && (error.code === "migration-mismatch" || error.code === "denied");
}

function named(error: unknown, file: MigrationFile): StoreError {
  if (!(error instanceof StoreError)) throw error;
  if (error.code === "migration-mismatch") return error;
  return new StoreError(error.code, `${file.name}: ${error.message}`, { retriable: error.retriable, cause: error });
}
