import { readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import type { FamilyMeta } from "../../exporters/exposition/parse.ts";
import type { SavedTargets } from "./pushed-targets.ts";

/** The knowledge of a receiver for its next process, so that repeated moments give the same messages. */
export interface SavedState extends SavedTargets {
  readonly families: readonly (readonly [name: string, meta: FamilyMeta])[];
  /** True if an earlier process has saved something. */
  readonly isSaved: boolean;
}

const NOTHING: SavedState = { targets: {}, pods: {}, families: [], isSaved: false };
const FILE = "state.json";

/** Reads the state in a folder. A missing file, or one that cannot be read, is an empty state. */
export function readState(folder: string, onError: (error: unknown) => void): SavedState {
  try {
    const { targets, pods, families } = JSON.parse(readFileSync(join(folder, FILE), "utf8")) as SavedState;
    return { targets, pods, families, isSaved: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") onError(error);
    return NOTHING;
  }
}

/** Saves the state when it has changed. */
export interface StateSaver {
  /** Marks the state as changed. */
  change(): void;
  /** Writes the state if it has changed. If that fails, the state stays changed. */
  save(state: () => Omit<SavedState, "isSaved">): Promise<void>;
}

/** Creates a saver whose file has the current state. */
export function createStateSaver(folder: string): StateSaver {
  let isChanged = false;
  return {
    change: () => void (isChanged = true),
    async save(state) {
      if (!isChanged) return;
      isChanged = false;
      try {
        await writeState(folder, state());
      } catch (error) {
        isChanged = true;
        throw error;
      }
    },
  };
}

/** Writes the state in one piece: a crash leaves the former state. */
async function writeState(folder: string, state: Omit<SavedState, "isSaved">): Promise<void> {
  const path = join(folder, FILE);
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    await file.writeFile(JSON.stringify(state));
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}
