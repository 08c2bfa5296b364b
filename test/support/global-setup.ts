import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { prepareKafka } from "./kafka-broker.ts";
import { useMemoryForTemporaryFiles } from "./memory-folder.ts";
import { startTestStore, type SharedStore, type TestStore } from "./embedded-store.ts";
import { makeTemplate } from "./database.ts";

declare module "vitest" {
  export interface ProvidedContext {
    readonly store: SharedStore;
  }
}

/** One process sets up all projects. Each project loads this file again. */
const shared = globalThis as { store?: Promise<TestStore> };

/**
 * Runs once before the tests with real parts: builds `dist/`, which tests with child processes run, downloads the broker's jars, and starts the store
 * that test files share. Returns a function that ends that store.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const store = await (shared.store ??= prepare());
  const { url, user, folder } = store;
  project.provide("store", { url, user, folder });
  return () => store.stop();
}

async function prepare(): Promise<TestStore> {
  useMemoryForTemporaryFiles();
  await promisify(execFile)("npm", ["run", "--silent", "build"]).catch((error: unknown) => {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`The build failed:\n${stdout}${stderr}`, { cause: error });
  });
  await prepareKafka();
  const store = await startTestStore();
  await makeTemplate(store).catch(async (error: unknown) => {
    await store.stop();
    throw error;
  });
  return store;
}
