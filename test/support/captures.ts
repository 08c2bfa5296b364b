import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder of genuine captures: named by GPU_LEDGER_CAPTURES, else beside the project. */
const FOLDER = resolve(process.env["GPU_LEDGER_CAPTURES"] ?? "../shared/captures");

/** Genuine pages by file name; empty, with a line that says so, where the captures are not at hand. */
export function captures(kind: "dcgm" | "kubernetes"): ReadonlyMap<string, Buffer> {
  const folder = join(FOLDER, kind);
  if (!existsSync(folder)) {
    process.stderr.write(
      `No captures in ${folder}: the tests that read genuine ${kind} captures are left out. GPU_LEDGER_CAPTURES names their folder.\n`,
    );
    return new Map();
  }
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}
