import { mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** Linux' file system in memory. */
const MEMORY = "/dev/shm";
/** The tests need less. Containers often have only 64 MB. */
const LEAST_BYTES = 6 * 2 ** 30;
const PREFIX = "gpu-ledger-tests-";

/**
 * Moves the temporary folders of this process and of its children into memory, where the system has enough of it. Stores create thousands of
 * small files, and a disk makes them wait. TMPDIR names another place. Removes the folder at the end of the process, and those of processes that
 * were killed.
 */
export function useMemoryForTemporaryFiles(): void {
  if (process.env["TMPDIR"] !== undefined || freeBytes() < LEAST_BYTES) return;
  for (const name of readdirSync(MEMORY)) {
    const processId = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
    if (processId > 0 && !isRunning(processId)) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(MEMORY, `${PREFIX}${process.pid}-`));
  process.env["TMPDIR"] = folder;
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
