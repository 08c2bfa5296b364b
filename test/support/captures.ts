import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const NAMED = process.env["GPU_LEDGER_CAPTURES"];
/** The folder of genuine captures: the one that GPU_LEDGER_CAPTURES names, or a folder beside the project. */
const FOLDER = resolve(NAMED ?? "../shared/captures");

/**
 * Genuine pages and objects by file name. Where the captures are missing, the map is empty and one line names their folder; with
 * `CI=true` that is a failure, unless GPU_LEDGER_CAPTURES is `none`. `test/fixtures/pages` has a page of each dialect that needs no
 * captures.
 */
export function captures(kind: "dcgm" | "kubernetes"): ReadonlyMap<string, Buffer> {
  const folder = join(FOLDER, kind);
  if (!existsSync(folder)) {
    const message = `There are no captures in ${folder}. GPU_LEDGER_CAPTURES names their folder.`;
    if (process.env["CI"] === "true" && NAMED !== "none") throw new Error(message);
    process.stderr.write(`${message} The tests that read genuine ${kind} captures are skipped.\n`);
    return new Map();
  }
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}
