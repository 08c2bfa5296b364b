import { installParts } from "./parts.ts";

/** One process sets up all projects, each of which loads this file for itself. */
const shared = globalThis as { areInstalled?: Promise<void> };

/** Runs once before the tests that need programs beside Node: installs those that are missing, where that is possible. */
export default function setup(): Promise<void> {
  return (shared.areInstalled ??= installParts());
}
