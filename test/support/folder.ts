import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder of its own for the running test, which is removed after the test. */
export function temporaryFolder(of: string): string {
  const folder = mkdtempSync(join(tmpdir(), `gpu-ledger-${of}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
