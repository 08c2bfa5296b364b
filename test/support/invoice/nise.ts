import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { requirePart } from "../parts.ts";

const run = promisify(execFile);
const VERSION = "5.4.0";
const CACHE = resolve(`node_modules/.cache/gpu-ledger/koku-nise-${VERSION}`);

/**
 * Installs koku-nise, which writes exports of clouds from a description (https://github.com/project-koku/nise), from PyPI, once. `false` where
 * Python is missing, or PyPI cannot be reached. Then a line names the missing part. With `CI=true` that is a failure.
 */
export async function prepareNise(): Promise<boolean> {
  if (!requirePart("python3")) return false;
  if (existsSync(CACHE)) return true;
  mkdirSync(dirname(CACHE), { recursive: true });
  const partial = mkdtempSync(`${CACHE}-partial-`);
  try {
    await run("python3", ["-m", "venv", partial]);
    await run(join(partial, "bin/python"), ["-m", "pip", "install", "--quiet", `koku-nise==${VERSION}`]);
  } catch (error) {
    if (process.env["CI"] === "true") throw error;
    process.stderr.write(
      `koku-nise ${VERSION} is missing, and PyPI does not have it. The tests that need it are skipped.\n`,
    );
    return false;
  }
  renameSync(partial, CACHE);
  return true;
}

/** Writes the export of a cloud for 2 and 3 March 2026, by the description in `test/fixtures/invoices/nise`, and returns the new files. */
export async function niseFiles(
  cloud: "aws" | "azure" | "gcp",
  folder: string,
  ...args: readonly string[]
): Promise<string[]> {
  const description = resolve(`test/fixtures/invoices/nise/${cloud}.yaml`);
  const days = ["--start-date", "2026-03-02", "--end-date", "2026-03-03"];
  const options = ["-m", "nise", "report", cloud, "--static-report-file", description, ...days, ...args];
  await run(join(CACHE, "bin/python"), options, { cwd: folder });
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name)).toSorted();
}
