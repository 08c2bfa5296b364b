import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { PlayFiles } from "./promtool.ts";

const FILE = "test/mutation/verdicts.json";
/** The number of parts of the verdicts. Each turn plays one again. */
const PARTS = 10;

/** Verdicts of promtool that are stored in the repository, by the digest of a play's files. */
export interface Verdicts {
  /** The verdict of a play: true if it passed; `undefined` where its files are new. */
  of(files: PlayFiles): boolean | undefined;
  /** True if this turn plays the recorded play again, which checks that its verdict holds for the installed promtool. */
  isDue(files: PlayFiles): boolean;
  add(files: PlayFiles, isPassed: boolean): void;
  /** Writes the verdicts that were read or added since the file was opened. A verdict that no play needs is dropped. */
  save(): void;
}

/** The content of the file: digests in order. */
interface Recorded {
  readonly failed: readonly string[];
  readonly passed: readonly string[];
}

/** The verdicts of the file; none if all cases are played again. `turn` is the number of the landing. */
export function openVerdicts({ isAnew, turn }: { readonly isAnew: boolean; readonly turn: number }): Verdicts {
  const { failed, passed }: Recorded = isAnew
    ? { failed: [], passed: [] }
    : (JSON.parse(readFileSync(FILE, "utf8")) as Recorded);
  const known = new Map([
    ...failed.map((digest) => [digest, false] as const),
    ...passed.map((digest) => [digest, true] as const),
  ]);
  const used = new Map<string, boolean>();
  return {
    of(files) {
      const digest = digestOf(files);
      const isPassed = known.get(digest);
      if (isPassed !== undefined) used.set(digest, isPassed);
      return isPassed;
    },
    isDue: (files) => Number.parseInt(digestOf(files).slice(0, 8), 16) % PARTS === turn % PARTS,
    add(files, isPassed) {
      used.set(digestOf(files), isPassed);
    },
    save() {
      const digests = (verdict: boolean): readonly string[] =>
        [...used].flatMap(([digest, isPassed]) => (isPassed === verdict ? [digest] : [])).toSorted();
      writeFileSync(FILE, `${JSON.stringify({ failed: digests(false), passed: digests(true) }, null, 2)}\n`);
    },
  };
}

/** Returns the digest of a play. The name of the case has no part in it. */
function digestOf({ rules, test }: PlayFiles): string {
  const unnamed = test.replace(/^ {2}- name: .*\n/m, "");
  return createHash("sha256").update(`${rules}\0${unnamed}`).digest("hex").slice(0, 16);
}
