import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Creates a folder for its owner alone (0700), with missing folders above it. An existing folder of this user gets the same permissions. In
 * a folder of another user, such as the root of a volume, they stay.
 */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  restrict(folder, 0o700);
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
