/** Migrations as files: `NNNN_name.sql`, numbered from 0001 without gaps. Each statement ends with a semicolon. */
import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

import { sqlTokens } from "./sql-tokens.ts";
import { StoreError } from "./store-error.ts";

/** A migration as in its file, with placeholders. */
export interface MigrationFile {
  /** The file's name, `0001_scrapes.sql`. */
  readonly name: string;
  readonly number: number;
  /** The SHA-256 of the file's bytes, in hex. */
  readonly sha256: string;
  readonly statements: readonly string[];
}

const namePattern = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** Reads a folder of migrations in order. Fails with `migration-mismatch` if a file is invalid. */
export async function loadMigrations(folder: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
  const migrations: MigrationFile[] = [];
  for (const [index, name] of names.entries()) {
    const number = migrationNumber(name);
    if (number === undefined) throw mismatch(`${name} is not named like 0001_scrapes.sql`);
    if (number !== index + 1) throw mismatch(`${name} should have the number ${index + 1}: one is missing or doubled`);
    const bytes = await readFile(join(folder, name));
    const statements = splitStatements(bytes.toString("utf8"), name);
    for (const statement of statements) checkRepeatable(statement, name);
    migrations.push({ name, number, sha256: createHash("sha256").update(bytes).digest("hex"), statements });
  }
  return migrations;
}

/** Returns the number in a migration's name; undefined if it has none. */
export function migrationNumber(name: string): number | undefined {
  const found = namePattern.exec(name);
  return found === null ? undefined : Number(found[1]);
}

/** Creates an error of the migrations themselves. A retry cannot help. */
export function mismatch(message: string): StoreError {
  return new StoreError("migration-mismatch", message, { retriable: false });
}

/**
 * Splits a text into its statements. A semicolon in a string or a comment does not end a statement. The last statement needs its own
 * semicolon.
 */
export function splitStatements(text: string, name: string): readonly string[] {
  const statements: string[] = [];
  let start: number | undefined;
  let end = 0;
  for (const token of sqlTokens(text)) {
    if (token.kind === "symbol" && token.text === ";") {
      if (start !== undefined) statements.push(text.slice(start, end));
      start = undefined;
    } else {
      start ??= token.start;
      end = token.end;
    }
  }
  if (start !== undefined) throw mismatch(`${name}: the last statement is not ended by a semicolon`);
  if (statements.length === 0) throw mismatch(`${name} holds no statement`);
  return statements;
}

/** Checks that a statement can run twice without an effect, because a crash or a second process may run it again. */
function checkRepeatable(statement: string, name: string): void {
  const words = [...sqlTokens(statement)].map((token) => token.text.toUpperCase()).join(" ");
  const creates = /^(?:CREATE|ATTACH) /.test(words) && !/ (?:IF NOT EXISTS|OR REPLACE) /.test(`${words} `);
  const adds =
    words.startsWith("ALTER ") && / ADD (?:COLUMN|INDEX|PROJECTION|CONSTRAINT) (?!IF NOT EXISTS)/.test(words);
  const drops =
    (/^(?:DROP|DETACH) /.test(words) || / DROP (?:COLUMN|INDEX|PROJECTION|CONSTRAINT) /.test(words)) &&
    !/ IF EXISTS /.test(words);
  const inserts = words.startsWith("INSERT ");
  if (creates || adds || drops || inserts) {
    throw mismatch(`${name}: "${statement.slice(0, 60)}…" may run twice and must have IF NOT EXISTS or IF EXISTS`);
  }
}
