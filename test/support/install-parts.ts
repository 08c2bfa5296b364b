import { installParts } from "./parts.ts";

/** One process sets up all projects. Each project loads this file again. */
const shared = globalThis as { areInstalled?: Promise<void> };

/** Runs once before the tests that need other programs than Node: installs the missing ones, where that is possible. */
export default function setup(): Promise<void> {
  return (shared.areInstalled ??= installParts());
}
