import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { BackupError } from "./backup-error.ts";
import { BACKED_UP } from "./tables.ts";

/** The name of the manifest, which is written last. A folder without one is not a complete backup. */
export const MANIFEST = "manifest.json";

const manifestSchema = z.object({
  format: z.literal("gpu-ledger backup 1"),
  /** The release that wrote it, for people. */
  version: z.string(),
  /** The number of the last migration of the backed-up store. */
  schema: z.int(),
  begunAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  /** In the order of the restore. */
  tables: z.array(
    z.object({
      name: z.enum(BACKED_UP.map(({ name }) => name)),
      columns: z.array(z.string()).min(1),
      /** Rows of these columns in ClickHouse's Native format, compressed with gzip. */
      files: z.array(
        z.object({
          name: z.string().regex(/^[a-z0-9_]+-\d+\.native\.gz$/),
          rows: z.int(),
          bytes: z.int(),
          sha256: z.string(),
        }),
      ),
    }),
  ),
});

/** The manifest of a backup. */
export type Manifest = z.infer<typeof manifestSchema>;

/** A table of a backup. */
export type BackupTable = Manifest["tables"][number];

/** A file of a backup. */
export type BackupFile = BackupTable["files"][number];

/** Returns the number of files, rows and bytes of a backup. */
export function sizeOf({ tables }: Manifest): {
  readonly files: number;
  readonly rows: number;
  readonly bytes: number;
} {
  const files = tables.flatMap((table) => table.files);
  const sumOf = (what: "rows" | "bytes"): number => files.reduce((sum, file) => sum + file[what], 0);
  return { files: files.length, rows: sumOf("rows"), bytes: sumOf("bytes") };
}

/**
 * Reads a backup's manifest and checks every file against it. Fails with a {@link BackupError} if there is no manifest, if a file is
 * missing or different, or if the schema of the backup is newer than `knownSchema`.
 */
export async function readBackup(folder: string, knownSchema: number): Promise<Manifest> {
  const manifest = parsed(folder, await read(folder, MANIFEST, "no-backup"));
  if (manifest.schema > knownSchema)
    throw new BackupError(
      "newer",
      `${folder} was written by release ${manifest.version}, with ${manifest.schema} migrations; this release has ${knownSchema}: restore it with that release or a later one`,
    );
  for (const file of manifest.tables.flatMap(({ files }) => files)) await readBackupFile(folder, file);
  return manifest;
}

/** Reads the compressed bytes of a file. Fails with a {@link BackupError} if they are not the bytes that were written. */
export async function readBackupFile(folder: string, { name, sha256 }: BackupFile): Promise<Buffer> {
  const bytes = await read(folder, name, "damaged");
  if (sha256Of(bytes) !== sha256)
    throw new BackupError("damaged", `${join(folder, name)} is not the file that the backup wrote: the hash differs`);
  return bytes;
}

/** Returns the SHA-256 in hex. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function read(folder: string, name: string, code: "no-backup" | "damaged"): Promise<Buffer> {
  try {
    return await readFile(join(folder, name));
  } catch (error) {
    const why =
      code === "damaged"
        ? `${join(folder, name)} is part of the backup and cannot be read`
        : `${folder} has no ${MANIFEST}: the folder is not a backup, or the backup is not complete`;
    throw new BackupError(code, why, { cause: error });
  }
}

function parsed(folder: string, bytes: Buffer): Manifest {
  try {
    return manifestSchema.parse(JSON.parse(bytes.toString("utf8")));
  } catch (error) {
    throw new BackupError(
      "damaged",
      `${join(folder, MANIFEST)} is not a backup's manifest that this release can read`,
      {
        cause: error,
      },
    );
  }
}
