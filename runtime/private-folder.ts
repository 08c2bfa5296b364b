import { accessSync, chmodSync, constants, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** A folder that cannot be created or used. The message has the folder and the reason. */
export class FolderError extends Error {
  readonly code = "folder-unusable";

  constructor(folder: string, cause: unknown) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = REASONS[code ?? ""] ?? message;
    super(
      `${folder} cannot be used as a folder for data: ${reason}. The key data has another place; see docs/install.md`,
    );
    this.name = "FolderError";
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EEXIST: "it is a file",
  ENOTDIR: "a part of its path is a file",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
};

/**
 * Creates a folder for its owner alone (0700), with missing folders above it. An existing folder of this user gets the same permissions. In
 * a folder of another user, such as the root of a volume, they stay. Fails with a {@link FolderError}.
 */
export function makePrivateFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    restrict(folder, 0o700);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new FolderError(folder, error);
  }
}

/** Gives the files in a folder to their owner alone (0600), if they are this user's. */
export function restrictFiles(folder: string): void {
  for (const { name } of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()))
    restrict(join(folder, name), 0o600);
}

function restrict(path: string, mode: number): void {
  const { mode: given, uid } = statSync(path);
  if ((given & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(path, mode);
}
