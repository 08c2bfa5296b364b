import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The progress of an import in a file, so that the same import can continue. */
export interface Progress {
  /** The end of the time whose samples were sent, milliseconds since the epoch; undefined before the first window. */
  readonly reachedMillis: number | undefined;
  /** Records that all samples until a time were sent. */
  reach(untilMillis: number): void;
  /** Removes the file. The import begins at its start the next time. */
  forget(): void;
}

/** Opens the progress of an import. `identity` has everything that makes two imports the same. */
export function openProgress(folder: string, identity: Readonly<Record<string, unknown>>): Progress {
  const text = JSON.stringify(identity);
  const name = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const file = join(folder, `${name}.json`);
  let reachedMillis = readReached(file);
  return {
    get reachedMillis() {
      return reachedMillis;
    },
    reach(untilMillis) {
      reachedMillis = untilMillis;
      mkdirSync(folder, { recursive: true });
      writeFileSync(`${file}.new`, JSON.stringify({ ...identity, reachedMillis }));
      renameSync(`${file}.new`, file);
    },
    forget() {
      reachedMillis = undefined;
      rmSync(file, { force: true });
    },
  };
}

function readReached(file: string): number | undefined {
  try {
    const { reachedMillis } = JSON.parse(readFileSync(file, "utf8")) as { readonly reachedMillis?: unknown };
    return typeof reachedMillis === "number" ? reachedMillis : undefined;
  } catch {
    return undefined;
  }
}
