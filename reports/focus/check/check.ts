import { COLUMN_RULES } from "./column-rules.ts";
import { FILE_RULES } from "./file-rules.ts";
import { ALWAYS_THERE, CONDITIONAL, NEVER_NULL, NEVER_NULL_IF_PRESENT } from "./known-columns.ts";
import { ROW_RULES } from "./row-rules.ts";
import type { Expected, RowRule, WrittenRow } from "./rule.ts";

/** A line of a file: the headers in the first line, then a text or null for each column. */
export type WrittenCells = readonly (string | null)[];

/** A violation: where a file breaks a rule. */
export interface Violation {
  readonly rule: string;
  /** The rule, in a sentence. */
  readonly text: string;
  readonly column: string;
  /** The number of the row, from 1; 0 for the headers; the last row's number for an error of all rows together. */
  readonly row: number;
  /** The subject of the row, for people. */
  readonly key: string;
  readonly found: string | null;
}

/** The result of a check. */
export interface CheckOutcome {
  readonly rows: number;
  /** The number of violations. */
  readonly count: number;
  /** The first violations. */
  readonly violations: readonly Violation[];
}

/** The limit of violations with their position. */
const MOST_LISTED = 20;

/** All rules of single rows. */
export const ROW_CHECKS: readonly RowRule[] = [...COLUMN_RULES, ...ROW_RULES];

/**
 * Checks a file against FOCUS 1.3 and against its expected sums, line by line as written. Only sums are kept, not rows. The rows of an
 * origin must be consecutive.
 */
export async function checkFocus(lines: AsyncIterable<WrittenCells>, expected: Expected): Promise<CheckOutcome> {
  const violations: Violation[] = [];
  let count = 0;
  let heads: readonly string[] | undefined;
  let rows = 0;
  let key = "";
  const report = (rule: { readonly id: string; readonly text: string }, column: string, found: string | null): void => {
    count += 1;
    if (violations.length < MOST_LISTED)
      violations.push({ rule: rule.id, text: rule.text, column, row: rows, key, found });
  };
  const looks = FILE_RULES.map((rule) => ({ rule, look: rule.begin(expected) }));
  for await (const cells of lines) {
    if (heads === undefined) {
      heads = cells.map((cell) => cell ?? "");
      for (const { rule, column } of brokenHeads(heads)) report(rule, column, heads.includes(column) ? column : null);
      continue;
    }
    const row: WrittenRow = Object.fromEntries(heads.map((name, index) => [name, cells[index] ?? null]));
    for (const { rule, look } of looks) {
      const broken = look.add(row);
      if (broken !== undefined) report(rule, broken.column, broken.found);
    }
    rows += 1;
    key = keyOf(row);
    if (cells.length !== heads.length) report(CELLS, heads.at(-1) ?? "", `${cells.length} cells`);
    for (const rule of ROW_CHECKS) {
      const column = rule.brokenIn(row);
      if (column !== undefined) report(rule, column, row[column] ?? null);
    }
  }
  if (heads === undefined) report(COLUMNS, NEVER_NULL[0]!, null);
  for (const { rule, look } of looks) for (const { column, found } of look.end()) report(rule, column, found);
  return { rows, count, violations };
}

const CELLS = { id: "cells", text: "a row has one cell for each header" };
const COLUMNS = { id: "columns", text: "each column that FOCUS requires exists exactly once" };
const CUSTOM = { id: "custom-columns", text: "columns that are not in FOCUS begin with x_ and come last" };
const NEEDED: readonly string[] = [...NEVER_NULL, ...ALWAYS_THERE];
const KNOWN: ReadonlySet<string> = new Set([...NEEDED, ...NEVER_NULL_IF_PRESENT, ...CONDITIONAL]);

function brokenHeads(heads: readonly string[]) {
  const missing = NEEDED.filter((column) => heads.filter((head) => head === column).length !== 1);
  const lastKnown = heads.findLastIndex((head) => KNOWN.has(head));
  const misplaced = heads.filter((head, index) => !KNOWN.has(head) && (!head.startsWith("x_") || index < lastKnown));
  return [
    ...missing.map((column) => ({ rule: COLUMNS, column })),
    ...misplaced.map((column) => ({ rule: CUSTOM, column })),
  ];
}

function keyOf(row: WrittenRow): string {
  const values = ["ChargePeriodStart", "ResourceId", "AllocatedResourceName", "x_State"].flatMap(
    (name) => row[name] ?? [],
  );
  return values.join(" ");
}
