import { readPattern, type Pattern } from "./pattern.ts";
import { MATCH_KINDS, type OwnerProblem, type OwnerRow } from "./rule.ts";

/** A row of finance's file with its pattern. */
export interface CompiledRow {
  readonly row: OwnerRow;
  readonly pattern: Pattern;
}

const PATTERN_KINDS: readonly Pattern["kind"][] = ["exact", "glob", "regex"];

/**
 * Compiles the rows of finance's file, highest rank first. The rank is the kind (workload, queue, namespace, pool), then exact name before
 * glob before regular expression, then the number of literal characters. Ties keep the order of the file: it matters only if two regular
 * expressions of one kind fit the same name. Invalid patterns are added to `problems`.
 */
export function compileFile(rows: readonly OwnerRow[], problems: OwnerProblem[]): readonly CompiledRow[] {
  const compiled = rows.flatMap((row) => {
    const pattern = readPattern(row.match);
    if (!("allowed" in pattern)) return [{ row, pattern }];
    const wrong = `a file of owners: in line ${row.line}, match is ${JSON.stringify(row.match)}, not ${pattern.allowed}`;
    problems.push({ path: ["ownersFile"], allowed: wrong });
    return [];
  });
  return compiled.toSorted(
    (a, b) =>
      MATCH_KINDS.indexOf(a.row.kind) - MATCH_KINDS.indexOf(b.row.kind) ||
      PATTERN_KINDS.indexOf(a.pattern.kind) - PATTERN_KINDS.indexOf(b.pattern.kind) ||
      b.pattern.literals - a.pattern.literals,
  );
}

/** Returns whether only the order in the file decides between two rows. */
export function isTied(one: CompiledRow, other: CompiledRow): boolean {
  return (
    one.row.kind === other.row.kind &&
    one.pattern.kind === other.pattern.kind &&
    one.pattern.literals === other.pattern.literals
  );
}
