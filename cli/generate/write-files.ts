import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GeneratedFile } from "../../alerts/exporter/files.ts";
import type { CommandContext } from "../context.ts";

/** Writes files into a folder, which is made if it is missing, and prints their paths. */
export function writeFiles(out: string, files: readonly GeneratedFile[], { stdout }: CommandContext): void {
  mkdirSync(out, { recursive: true });
  for (const { name, text } of files) {
    const path = join(out, name);
    writeFileSync(path, text);
    stdout.write(`${path}\n`);
  }
}
