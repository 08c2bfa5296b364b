import { DIMENSIONS, type Dimension } from "./owner.ts";
import { isTied, type CompiledRow } from "./file.ts";
import { canMeet, type Pattern } from "./pattern.ts";
import { matchOf, overlap, type OwnerProblem, type OwnerRule } from "./rule.ts";

/**
 * Returns the rules of one list that contradict an earlier rule: the same kind and pattern, an overlapping time, and another value. The
 * later rule could never win. Between different patterns the list's order decides, so that is not a contradiction.
 */
export function contradictionsInList(
  rules: readonly OwnerRule[],
  patterns: readonly (Pattern | undefined)[],
  dimension: Dimension,
): readonly OwnerProblem[] {
  return rules.flatMap((rule, index) => {
    if (!("value" in rule) || patterns[index] === undefined) return [];
    const { kind, match } = matchOf(rule);
    const earlier = rules.slice(0, index).findIndex((other) => {
      if (!("value" in other) || other.value === rule.value || !overlap(other, rule)) return false;
      const wanted = matchOf(other);
      return wanted.kind === kind && wanted.match === match;
    });
    const other = rules[earlier];
    if (other === undefined || !("value" in other)) return [];
    const allowed = `a rule that agrees with owners.${dimension}[${earlier}]: for ${kind} ${match} that gives ${JSON.stringify(other.value)} at the same time, and this one ${JSON.stringify(rule.value)}`;
    return [{ path: ["owners", dimension, index], allowed }];
  });
}

/**
 * Returns the rows of finance's file that contradict each other: they tie in rank, can match the same name at the same time, and have
 * different values. The rows are sorted by rank, so tied rows are adjacent.
 */
export function contradictionsInFile(rows: readonly CompiledRow[]): readonly OwnerProblem[] {
  const problems: OwnerProblem[] = [];
  for (const tied of tiesOf(rows)) {
    // Exact names only match themselves. Among thousands of rows, only the few with the same name are compared.
    for (const group of tied[0]?.pattern.kind === "glob" ? [tied] : byMatch(tied))
      problems.push(...contradictionsAmong(group));
  }
  return problems;
}

function tiesOf(rows: readonly CompiledRow[]): readonly (readonly CompiledRow[])[] {
  const ties: CompiledRow[][] = [];
  for (const each of rows) {
    const last = ties.at(-1);
    if (last?.[0] !== undefined && isTied(last[0], each)) last.push(each);
    else ties.push([each]);
  }
  return ties;
}

function byMatch(rows: readonly CompiledRow[]): Iterable<readonly CompiledRow[]> {
  const groups = new Map<string, CompiledRow[]>();
  for (const each of rows) {
    const group = groups.get(each.row.match);
    if (group === undefined) groups.set(each.row.match, [each]);
    else group.push(each);
  }
  return groups.values();
}

function contradictionsAmong(rows: readonly CompiledRow[]): readonly OwnerProblem[] {
  return rows.flatMap((one, index) =>
    rows.slice(index + 1).flatMap((other) => {
      const [a, b] = one.row.line < other.row.line ? [one, other] : [other, one];
      if (!overlap(a.row, b.row) || !canMeet(a.pattern, b.pattern)) return [];
      return DIMENSIONS.flatMap((dimension) => {
        const [first, second] = [a.row.values[dimension], b.row.values[dimension]];
        if (first === undefined || second === undefined || first === second) return [];
        const names = a.row.match === b.row.match ? a.row.match : `${a.row.match} and ${b.row.match}`;
        const allowed = `a file whose rows agree: for ${a.row.kind} ${names}, line ${a.row.line} gives ${dimension} ${JSON.stringify(first)} and line ${b.row.line} ${JSON.stringify(second)} at the same time`;
        return [{ path: ["ownersFile"], allowed }];
      });
    }),
  );
}
