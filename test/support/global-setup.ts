import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { prepareKafka } from "./kafka-broker.ts";

/** One process sets up all projects, each of which loads this file for itself. */
const shared = globalThis as { isReadyForRealParts?: Promise<void> };

/**
 * Runs once before the tests with real parts: builds `dist/`, which tests with child processes run, and fetches what they
 * need beside Node. What can't be had is said in one line each, and only the suites that need it are skipped.
 */
export default function setup(): Promise<void> {
  return (shared.isReadyForRealParts ??= prepare());
}

async function prepare(): Promise<void> {
  await promisify(execFile)("npm", ["run", "--silent", "build"]).catch((error: unknown) => {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`The build failed:\n${stdout}${stderr}`, { cause: error });
  });
  await prepareKafka();
}
