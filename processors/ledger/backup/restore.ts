import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";
import { BackupError } from "./backup-error.ts";
import { readBackupFile, sizeOf, type Manifest } from "./manifest.ts";
import { BACKED_UP } from "./tables.ts";

const unpack = promisify(gunzip);

/** The backup to restore, and the person who restores it. */
export interface RestoreRequest {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly by: string;
  readonly now: () => number;
}

/**
 * Restores a backup into a store that is migrated and empty. A store that an interrupted restore began to fill is emptied first. The audit
 * trail records the start and the completion. Fails with a {@link BackupError} if the store has rows, or if it accepted other rows than the
 * backup has; or with a `StoreError`.
 */
export async function restoreBackup(store: StoreClient, request: RestoreRequest): Promise<void> {
  const { folder, manifest } = request;
  const filled = await filledTables(store);
  if (filled.length > 0) {
    if (!(await isUnfinished(store)))
      throw new BackupError(
        "not-empty",
        `the store already has rows in ${filled.join(", ")}: restore a backup into an empty store`,
      );
    await empty(store);
  }
  await audit(store, request, "restore begun");
  for (const { name, columns, files } of manifest.tables) {
    for (const file of files) {
      const rows = await unpack(await readBackupFile(folder, file));
      const { writtenRows } = await store.insertRows(name, columns, rows);
      if (writtenRows !== file.rows)
        throw new BackupError("damaged", `the store took ${writtenRows} of the ${file.rows} rows of ${file.name}`);
    }
  }
  await audit(store, request, "restored");
}

async function filledTables(store: StoreClient): Promise<readonly string[]> {
  const filled: string[] = [];
  for (const { name } of BACKED_UP)
    if ((await store.query(`SELECT 1 AS one FROM ${name} LIMIT 1`)).length > 0) filled.push(name);
  return filled;
}

async function isUnfinished(store: StoreClient): Promise<boolean> {
  const [last] = await store.query<{ readonly what: string }>(
    "SELECT what FROM audit WHERE what IN ('restore begun', 'restored') ORDER BY at DESC, what = 'restored' DESC LIMIT 1",
  );
  return last?.what === "restore begun";
}

/** Empties the tables that a restore fills. The audit table, which shows that the restore was unfinished, is emptied last. */
async function empty(store: StoreClient): Promise<void> {
  for (const { name } of BACKED_UP) if (name !== "audit") await store.command(`TRUNCATE TABLE ${name}`);
  await store.command("TRUNCATE TABLE audit");
}

async function audit(
  store: StoreClient,
  { manifest, by, now }: RestoreRequest,
  what: "restore begun" | "restored",
): Promise<void> {
  await insertRecords(store, "audit", [
    {
      at: new Date(now()).toISOString(),
      who: by,
      what,
      why: "",
      subject: `backup of ${manifest.begunAt}`,
      details: JSON.stringify({ version: manifest.version, ...sizeOf(manifest) }),
    },
  ]);
}
