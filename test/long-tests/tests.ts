import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { selectTests, type CoverageTable, type Landing } from "./select.ts";

/** The record of the last check of all long tests. */
export const RECORD = "test/long-tests/checked.json";

/** The commit that was checked, the number of the landing since the first one, and the seconds of each long test. */
export interface Checked extends Pick<Landing, "turn" | "seconds"> {
  readonly commit: string;
}

/** Reads the record. */
export function readChecked(): Checked {
  return JSON.parse(readFileSync(RECORD, "utf8")) as Checked;
}

/** Reads the table of what the long tests cover. */
export function readTable(): CoverageTable {
  return JSON.parse(readFileSync("test/long-tests/table.json", "utf8")) as CoverageTable;
}

/** Returns the quick tests that make a twentieth of their rounds in the quick run, and all of them in the long one. */
export function testsWithRounds(): readonly string[] {
  return ["test/unit", "test/integration"]
    .flatMap(testsIn)
    .filter((path) => readFileSync(path, "utf8").includes(" rounds("));
}

/** Returns the files of all long tests. */
export function longTests(): readonly string[] {
  return [...testsWithRounds(), ...["test/full", "test/mutation", "test/alone"].flatMap(testsIn)];
}

/** Returns the long tests for this landing: those that the changes since the checked commit can break, and a third of all. */
export function selectedTests(): readonly string[] {
  const { commit, ...landing } = readChecked();
  const changed = changedSince(commit);
  const tests = longTests();
  return changed === undefined ? tests : selectTests(readTable(), tests, { ...landing, changed });
}

function testsIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => join(folder, path));
}

/** Returns the paths that differ from a commit; undefined where the clone does not have the commit. */
function changedSince(commit: string): readonly string[] | undefined {
  try {
    const text = execFileSync("git", ["diff", "--name-only", "--no-renames", commit], {
      encoding: "utf8",
      stdio: "pipe",
    });
    return text.split("\n").filter((path) => path !== "");
  } catch {
    return undefined;
  }
}
