import { mkdir, open, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { migrationNumber } from "../../../runtime/store/migration-file.ts";
import { countNativeRows } from "../../../runtime/store/native/count-rows.ts";
import { sqlIdentifier } from "../../../runtime/store/sql-tokens.ts";
import { SUPERSEDED_KEPT_MILLIS } from "../term/superseded.ts";
import { BackupError } from "./backup-error.ts";
import { readCounted, type Counted } from "./counted.ts";
import { MANIFEST, sha256Of, type BackupFile, type BackupTable, type Manifest } from "./manifest.ts";
import { slicesOf, type Slice } from "./slices.ts";
import { BACKED_UP, type BackedUpTable } from "./tables.ts";

/** The approximate uncompressed size of a file, which is held in memory at once. */
const FILE_BYTES = 32 * 1024 ** 2;
/** The most run ids in a parameter, in addition to those of closings. */
const MOST_RUNS = 2_000;

const pack = promisify(gzip);

/** A backup that is being written. */
interface Writing {
  readonly store: StoreClient;
  readonly folder: string;
  readonly counted: Counted;
  readonly begunAt: number;
  readonly now: () => number;
}

/** A table and the way to write it. */
interface Content {
  readonly table: BackedUpTable;
  readonly columns: readonly string[];
  /** The columns by which the rows of one hour are distributed over files. */
  readonly key: string;
  readonly rowsPerFile: number;
}

/**
 * Writes the tables of {@link BACKED_UP} into a folder, which is created and must be empty. The backup has everything that was valid when
 * it began, complete, whatever is published in the meantime. The manifest comes last. Fails with a {@link BackupError} if the folder has
 * files, or if valid runs were dropped during the backup; or with a `StoreError`.
 */
export async function writeBackup(
  store: StoreClient,
  { folder, version, now }: { readonly folder: string; readonly version: string; readonly now: () => number },
): Promise<Manifest> {
  const begunAt = now();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0)
    throw new BackupError("not-empty", `${folder} already has files: give a backup an empty folder of its own`);
  const schema = await schemaOf(store);
  const writing = { store, folder, counted: await readCounted(store), begunAt, now };
  const tables: BackupTable[] = [];
  for (const table of BACKED_UP) tables.push(await writeTable(writing, await contentOf(store, table)));
  const times = { begunAt: new Date(begunAt).toISOString(), endedAt: new Date(now()).toISOString() };
  const manifest: Manifest = { format: "gpu-ledger backup 1", version, schema, ...times, tables };
  await keep(folder, `${MANIFEST}.part`, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
  await rename(join(folder, `${MANIFEST}.part`), join(folder, MANIFEST));
  return manifest;
}

async function schemaOf(store: StoreClient): Promise<number> {
  const [last] = await store.query<{ readonly name: string }>("SELECT max(name) AS name FROM migrations");
  return migrationNumber(last?.name ?? "") ?? 0;
}

async function contentOf(store: StoreClient, table: BackedUpTable): Promise<Content> {
  const named = { table: table.name };
  const columns = await store.query<{ readonly name: string }>(
    `SELECT name FROM system.columns
     WHERE database = currentDatabase() AND table = {table:String} AND default_kind NOT IN ('MATERIALIZED', 'ALIAS')
     ORDER BY position`,
    named,
  );
  const [kept] = await store.query<{ readonly key: string; readonly rowBytes: number }>(
    `SELECT sorting_key AS key, (
       SELECT toFloat64(sum(data_uncompressed_bytes)) / greatest(sum(rows), 1) FROM system.parts
       WHERE active AND database = currentDatabase() AND table = {table:String}
     ) AS rowBytes
     FROM system.tables WHERE database = currentDatabase() AND name = {table:String}`,
    named,
  );
  return {
    table,
    columns: columns.map(({ name }) => name),
    key: kept!.key,
    rowsPerFile: Math.max(1, Math.floor(FILE_BYTES / Math.max(1, kept!.rowBytes))),
  };
}

async function writeTable(writing: Writing, content: Content): Promise<BackupTable> {
  const { store, counted } = writing;
  const { table, columns, rowsPerFile } = content;
  const hours = await store.query<{ readonly at: number; readonly rows: string }>(
    `SELECT toFloat64(toUnixTimestamp64Milli(toDateTime64(toStartOfHour(toDateTime64(${table.time}, 3, 'UTC')), 3, 'UTC'))) AS at,
       count() AS rows
     FROM ${table.name} GROUP BY at`,
  );
  const known = hours.map(({ at, rows }) => ({ at, rows: Number(rows), runs: counted.runs.get(at) ?? [] }));
  const files: BackupFile[] = [];
  for (const slice of slicesOf(known, { rows: rowsPerFile, runs: MOST_RUNS })) {
    for (let part = 0; part < slice.files; part += 1) {
      const name = `${table.name}-${files.length + 1}.native.gz`;
      const file = await writeFile(writing, content, { slice, part, name });
      if (file !== undefined) files.push(file);
    }
    await refuseWhatWasDropped(writing, slice);
  }
  return { name: table.name, columns: [...columns], files };
}

/** Writes a part of a slice. Writes no file if none of its rows is valid. */
async function writeFile(
  { store, folder, counted }: Writing,
  { table, columns, key }: Content,
  { slice, part, name }: { readonly slice: Slice; readonly part: number; readonly name: string },
): Promise<BackupFile | undefined> {
  const { closings, closed } = counted;
  const chunks: Uint8Array[] = [];
  const answer = store.bytes(
    `SELECT ${columns.map(sqlIdentifier).join(", ")} FROM ${table.name}
     WHERE ${table.time} >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
       AND ${table.time} < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
       AND cityHash64(${key}) % {files:UInt64} = {part:UInt64} AND (${table.rows})`,
    { ...slice, part, runs: [...slice.runs, ...closed], closings, closed },
    "Native",
  );
  for await (const chunk of answer) chunks.push(chunk);
  const rows = Buffer.concat(chunks);
  const counts = countNativeRows(rows);
  if (counts === 0) return undefined;
  const packed = await pack(rows, { level: constants.Z_BEST_SPEED });
  await keep(folder, name, packed);
  return { name, rows: counts, bytes: packed.length, sha256: sha256Of(packed) };
}

/** Writes a file and syncs it to the disk. */
async function keep(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  const file = await open(join(folder, name), "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Fails if a run of the slice may have been dropped. The rows of a valid run exist for at least an hour, and until a newer run is
 * published.
 */
async function refuseWhatWasDropped({ store, begunAt, now }: Writing, { runs }: Slice): Promise<void> {
  if (now() - begunAt < SUPERSEDED_KEPT_MILLIS || runs.length === 0) return;
  const counting = new Set([...(await readCounted(store)).runs.values()].flat());
  if (runs.every((run) => counting.has(run))) return;
  throw new BackupError(
    "superseded",
    "hours were published again while the backup read them, for more than an hour: start the backup when the ledger is idle, or use ClickHouse's BACKUP",
  );
}
