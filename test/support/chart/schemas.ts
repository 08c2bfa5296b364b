import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { requirePart } from "../parts.ts";
import type { ClusterObject } from "./helm.ts";

const run = promisify(execFile);
const CACHE = resolve("node_modules/.cache/gpu-ledger/kubernetes-validate-1.37.0");

/**
 * Downloads the JSON Schemas of Kubernetes from PyPI (`kubernetes-validate`; once, they are kept under `node_modules/.cache`). `false` where Python
 * is missing and can't be installed; see {@link requirePart}.
 */
export async function prepareSchemas(): Promise<boolean> {
  if (!requirePart("python3")) return false;
  if (existsSync(CACHE)) return true;
  mkdirSync(dirname(CACHE), { recursive: true });
  const partial = mkdtempSync(`${CACHE}-partial-`);
  await run("python3", ["-m", "venv", partial]);
  await run(join(partial, "bin/python"), ["-m", "pip", "install", "--quiet", "kubernetes-validate==1.37.0"]);
  renameSync(partial, CACHE);
  return true;
}

/**
 * The violations of the schemas of these versions of Kubernetes. The check is strict: an unknown field is a violation, and so is an object of an
 * unknown kind.
 */
export async function schemaMisfits(
  objects: readonly ClusterObject[],
  versions: readonly string[],
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-objects-"));
  try {
    const file = join(folder, "objects.yaml");
    writeFileSync(file, objects.map((object) => `---\n${JSON.stringify(object)}\n`).join(""));
    const asked = versions.flatMap((version) => ["-k", version]);
    const { stdout } = await run(join(CACHE, "bin/python"), [
      "-m",
      "kubernetes_validate",
      "--strict",
      "--quiet",
      ...asked,
      file,
    ]).catch((error: unknown) => {
      const { stdout: printed = "" } = error as { stdout?: string };
      if (printed === "") throw error;
      return { stdout: printed };
    });
    return stdout.split("\n").filter((line) => line !== "");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
