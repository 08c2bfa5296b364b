import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { extract } from "tar";
import type { OutgoingMessage } from "../../runtime/bus/bus.ts";
import type { MonthStatements } from "../../reports/read/statements.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { ask, type SharedStore } from "./embedded-store.ts";

const FIXTURES = resolve("test/fixtures/versions");
const BOOKS = "books.tar.gz";

/** The releases that have a fixture (scripts/make-fixture.mjs). */
export const versions: readonly string[] = readdirSync(FIXTURES);

/** The content of a version's data folder: the end of each partition, and the columns and rows of each table. */
export interface VersionContent {
  readonly positions: readonly { readonly topic: string; readonly partition: number; readonly high: number }[];
  readonly tables: Readonly<
    Record<string, { readonly columns: readonly string[]; readonly counted: string; readonly digest: string }>
  >;
}

/** The releases that have closed books (scripts/make-books.mjs): the first releases had no closings. */
export const versionsWithBooks = versions.filter((version) => existsSync(join(FIXTURES, version, BOOKS)));

/** The results of the months of a version's books, by the name of the books' folder. */
export interface VersionBooks {
  readonly folder: string;
  readonly statements: readonly MonthStatements[];
}

/** A version's books: the results of their months, and a folder with a backup of each, unpacked into a new place. */
export async function unpackBooks(version: string): Promise<{
  readonly books: readonly VersionBooks[];
  readonly path: string;
  readonly remove: () => Promise<void>;
}> {
  const path = await mkdtemp(join(tmpdir(), "gpu-ledger-books-"));
  await extract({ file: join(FIXTURES, version, BOOKS), cwd: path });
  return {
    books: JSON.parse(read(version, "books.json")) as VersionBooks[],
    path,
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/** A message that a version sent. */
export interface VersionMessage extends OutgoingMessage {
  readonly topic: string;
  readonly value: Uint8Array;
}

/** An insert of a version's processors (scripts/record-inserts.mjs), by named columns in a binary format or as objects. */
export type VersionInsert =
  | { readonly table: string; readonly columns: readonly string[]; readonly rowBinary: string }
  | { readonly table: string; readonly columns: readonly string[]; readonly native: string }
  | { readonly table: string; readonly rows: readonly object[] };

/** The content of a version's data folder. */
export function contentOf(version: string): VersionContent {
  return JSON.parse(read(version, "expected.json")) as VersionContent;
}

/** The messages that a version sent, in order within each partition. */
export function messagesOf(version: string): readonly VersionMessage[] {
  return lines<Omit<VersionMessage, "value"> & { readonly value: string }>(version, "messages.jsonl").map(
    ({ value, ...message }) => ({ ...message, value: Buffer.from(value, "base64") }),
  );
}

/** The inserts of a version's processors for its messages. */
export function insertsOf(version: string): readonly VersionInsert[] {
  return lines(version, "inserts.jsonl");
}

/** Sends an insert of a version to a database of the embedded store, byte by byte as the version sent it. */
export async function repeatInsert(embedded: SharedStore, store: StoreClient, insert: VersionInsert): Promise<void> {
  if ("rows" in insert) {
    await store.insertJson(insert.table, insert.rows);
    return;
  }
  const [format, rows] = "native" in insert ? ["Native", insert.native] : ["RowBinary", insert.rowBinary];
  const query = `INSERT INTO ${insert.table} (${insert.columns.join(", ")}) FORMAT ${format}`;
  const path = `/?${new URLSearchParams({ database: store.database, query }).toString()}`;
  const answer = await ask(embedded, { user: embedded.user, path, body: Buffer.from(rows, "base64") });
  if (answer.status !== 200) throw new Error(answer.text);
}

/** A version's configuration as text, with the given values instead of its own. */
export function configurationOf(version: string, given: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...(JSON.parse(read(version, "config.json")) as object), ...given });
}

/** The data folder of a version, unpacked into a new place, with the configuration with which it was written. */
export async function unpackVersion(
  version: string,
): Promise<{ readonly config: Config; readonly remove: () => Promise<void> }> {
  const data = await mkdtemp(join(tmpdir(), "gpu-ledger-fixture-"));
  await extract({ file: join(FIXTURES, version, "data.tar.gz"), cwd: data });
  return {
    config: parseConfig(configurationOf(version, { data }), { source: "fixture", folder: data, env: {} }),
    remove: () => rm(data, { recursive: true, force: true }),
  };
}

function read(version: string, file: string): string {
  return readFileSync(join(FIXTURES, version, file), "utf8");
}

function lines<Line>(version: string, file: string): readonly Line[] {
  return read(version, file)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}
