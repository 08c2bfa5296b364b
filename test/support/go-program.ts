import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { isOnPath, requirePart } from "./parts.ts";

const run = promisify(execFile);

/** A program that Go can build. */
export interface GoProgram {
  readonly command: string;
  readonly module: string;
  /** The folder of its package in the module. */
  readonly path: string;
  /** With a `v`. */
  readonly version: string;
}

/**
 * Returns the program of the PATH, or else one that Go builds (some minutes, once; it is kept under `node_modules/.cache`). `undefined` where
 * both are missing; see {@link requirePart}. It is built in its module's folder, because `go install` refuses modules with `replace`.
 */
export async function goProgram({ command, module, path, version }: GoProgram): Promise<string | undefined> {
  if (isOnPath(command)) return command;
  const folder = resolve(`node_modules/.cache/gpu-ledger/${command}-${version}`);
  const built = join(folder, command);
  if (existsSync(built)) return built;
  if (!requirePart("go")) return undefined;
  const { stdout } = await run("go", ["mod", "download", "-json", `${module}@${version}`]);
  const { Dir } = JSON.parse(stdout) as { readonly Dir: string };
  await run("go", ["build", "-C", Dir, "-o", built, path]);
  return built;
}
