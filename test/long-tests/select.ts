import { createClosure } from "./closure.ts";

/** The number of parts of all tests. Each turn runs one, whatever has changed. */
const PARTS = 3;

/** The paths that tests cover: folders that end with a slash, and files, from the project's folder. */
export interface CoverageTable {
  /** Paths that only quick tests cover, if no row has them. */
  readonly quick: readonly string[];
  /** Paths that several rows have, by a name that rows write as `@name`. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /** The row of each long test: what it starts, reads and is about. A test without a row covers what it imports. */
  readonly files: Readonly<Record<string, readonly string[]>>;
}

/** A change, and the turn of its landing. */
export interface Landing {
  /** The changed paths. */
  readonly changed: readonly string[];
  /** The number of the landing. */
  readonly turn: number;
  /** The seconds that each test takes. The parts of the turns take about the same time. */
  readonly seconds: Readonly<Record<string, number>>;
}

/** Returns the paths of a test's row with those of its groups; undefined if the test has no row. */
export function pathsOf({ groups, files }: CoverageTable, test: string): readonly string[] | undefined {
  return files[test]?.flatMap((path) => (path.startsWith("@") ? groups[path.slice(1)]! : [path]));
}

/**
 * Returns the long tests that a change can break, and a third of all in turn. A changed path that no test covers selects all tests. The
 * test's own file and its support are followed by imports.
 */
export function selectTests(
  table: CoverageTable,
  tests: readonly string[],
  { changed, turn, seconds }: Landing,
  closureOf = createClosure(),
): readonly string[] {
  const covered = tests.map((test) => ({ test, paths: pathsOf(table, test), imports: closureOf(test) }));
  const broken = new Set<string>();
  for (const path of changed) {
    const isOfTests = path.startsWith("test/support/") || tests.includes(path);
    const byRow = covered.filter(({ paths = [] }) => !isOfTests && paths.some((prefix) => path.startsWith(prefix)));
    const byImport = covered.filter(({ paths, imports }) => (isOfTests || paths === undefined) && imports.has(path));
    const isCovered = byRow.length > 0 || (isOfTests && byImport.length > 0);
    if (!isCovered && !table.quick.some((prefix) => path.startsWith(prefix))) return tests;
    for (const { test } of [...byRow, ...byImport]) broken.add(test);
  }
  return [...new Set([...broken, ...partOf(tests, turn, seconds)])].toSorted();
}

/** Returns one part of some tests. The longest test goes to the part with the fewest seconds, then the next one. */
function partOf(tests: readonly string[], turn: number, seconds: Landing["seconds"]): readonly string[] {
  const parts = Array.from({ length: PARTS }, () => ({ seconds: 0, tests: [] as string[] }));
  const of = (test: string): number => seconds[test] ?? 1;
  for (const test of tests.toSorted((one, other) => of(other) - of(one))) {
    const least = parts.reduce((one, other) => (other.seconds < one.seconds ? other : one));
    least.tests.push(test);
    least.seconds += of(test);
  }
  return parts[turn % PARTS]!.tests;
}
