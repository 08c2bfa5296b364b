import type { Dataset } from "./dataset.ts";
import type { Expected, WrittenRow } from "./rule.ts";

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

/**
 * Checks a file against the rules of a dataset and against its expected sums, line by line as written. Only sums are kept, not rows. The rows of an
 * origin must be consecutive.
 */
export async function checkFocus(
  lines: AsyncIterable<WrittenCells>,
  dataset: Dataset,
  expected: Expected,
): Promise<CheckOutcome> {
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
  const looks = dataset.fileRules.map((rule) => ({ rule, look: rule.begin(expected) }));
  for await (const cells of lines) {
    if (heads === undefined) {
      heads = cells.map((cell) => cell ?? "");
      for (const { rule, column } of brokenHeads(heads, dataset))
        report(rule, column, heads.includes(column) ? column : null);
      continue;
    }
    const row: WrittenRow = Object.fromEntries(heads.map((name, index) => [name, cells[index] ?? null]));
    const look = (isOfRow: boolean): void => {
      for (const { rule, look: each } of looks.filter(({ rule: { isOfRow: own = false } }) => own === isOfRow)) {
        const broken = each.add(row);
        if (broken !== undefined) report(rule, broken.column, broken.found);
      }
    };
    look(false);
    rows += 1;
    key = dataset.key.flatMap((name) => row[name] ?? []).join(" ");
    look(true);
    if (cells.length !== heads.length) report(CELLS, heads.at(-1) ?? "", `${cells.length} cells`);
    for (const rule of dataset.rowRules) {
      const column = rule.brokenIn(row);
      if (column !== undefined) report(rule, column, row[column] ?? null);
    }
  }
  if (heads === undefined) report(COLUMNS, Object.keys(dataset.columns)[0]!, null);
  for (const { rule, look } of looks) for (const { column, found } of look.end()) report(rule, column, found);
  return { rows, count, violations };
}

const CELLS = { id: "cells", text: "a row has one cell for each header" };
const COLUMNS = { id: "columns", text: "each column that FOCUS requires exists exactly once, and no column twice" };
const CUSTOM = { id: "custom-columns", text: "columns that are not in FOCUS begin with x_ and come last" };
const ORDER = { id: "order", text: "FOCUS's columns are in alphabetical order, and after them the others" };

function brokenHeads(heads: readonly string[], { columns, isSorted }: Dataset) {
  const isKnown = (head: string): boolean => Object.hasOwn(columns, head);
  const times = (column: string): number => heads.filter((head) => head === column).length;
  const wrong = Object.entries(columns).filter(
    ([name, { isNeeded }]) => times(name) !== 1 && (isNeeded || times(name) > 1),
  );
  const lastKnown = heads.findLastIndex(isKnown);
  const misplaced = heads.filter((head, index) => !isKnown(head) && (!head.startsWith("x_") || index < lastKnown));
  const isBefore = (one: string, other: string): boolean => isKnown(one) === isKnown(other) && other < one;
  const unsorted = isSorted ? heads.filter((head, index) => index > 0 && isBefore(heads[index - 1]!, head)) : [];
  return [
    ...wrong.map(([column]) => ({ rule: COLUMNS, column })),
    ...misplaced.map((column) => ({ rule: CUSTOM, column })),
    ...unsorted.map((column) => ({ rule: ORDER, column })),
  ];
}
