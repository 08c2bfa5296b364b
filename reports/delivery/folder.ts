import { randomUUID } from "node:crypto";
import { constants, createReadStream, createWriteStream } from "node:fs";
import { access, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DeliveryError } from "./error.ts";
import { manifestOf, type Parcel } from "./manifest.ts";

/**
 * Puts a file into a folder, and then its manifest beside it. Each appears under its name when it is complete and on the disk, and replaces
 * a file of an earlier attempt. Fails with a {@link DeliveryError}, and if the signal is aborted.
 */
export async function putIntoFolder(folder: string, parcel: Parcel, signal: AbortSignal): Promise<void> {
  const { name, path } = parcel.file;
  try {
    await put(folder, name, createReadStream(path), signal);
    const manifest = `${JSON.stringify(manifestOf(parcel), null, 2)}\n`;
    await put(folder, `${name}.manifest.json`, Readable.from([manifest]), signal);
  } catch (error) {
    if (signal.aborted) throw error;
    throw refusal(error);
  }
}

/**
 * Checks that files can be put into a folder, without putting one there. Fails with the same {@link DeliveryError} as a delivery to the
 * folder.
 */
export async function checkFolder(folder: string): Promise<void> {
  try {
    await access(`${folder}/`, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refusal(error);
  }
}

function refusal(cause: unknown): DeliveryError {
  const { code = "" } = cause as NodeJS.ErrnoException;
  return new DeliveryError("folder-refused", `the file cannot be written: ${REASONS[code] ?? code}`, { cause });
}

/** The errors of the file system, for people. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "the folder does not exist",
  ENOTDIR: "the path is not a folder",
  EACCES: "no permission to write to the folder",
  EPERM: "no permission to write to the folder",
  EROFS: "the folder is read-only",
  ENOSPC: "it is full",
  EDQUOT: "it is full",
};

async function put(folder: string, name: string, bytes: Readable, signal: AbortSignal): Promise<void> {
  const unfinished = join(folder, `.${name}.${randomUUID()}.unfinished`);
  try {
    await pipeline(bytes, createWriteStream(unfinished, { flags: "wx", mode: 0o640, flush: true }), { signal });
    signal.throwIfAborted();
    await rename(unfinished, join(folder, name));
    await syncFolder(folder);
  } catch (error) {
    bytes.destroy();
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Writes the folder itself to the disk. Before that, a crash of the machine can remove the name again. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
