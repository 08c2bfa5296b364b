import type { ExportLine } from "../export-line.ts";
import type { Keeping } from "./keeping.ts";

/** A row of an export. Its cells are texts. */
export interface ExportRow {
  /** The first row after the head is 1. */
  readonly number: number;
  /** Returns the text of a column of the {@link ExportHead}; an empty text for null, and for a column that the file does not have. */
  cell(column: number): string;
}

/** The columns of an export. */
export interface ExportHead {
  /** The names as the file writes them. */
  readonly names: readonly string[];
  /** True if the file has a column of this name. Case and separators do not count: {@link plainName}. */
  has(name: string): boolean;
  /**
   * Returns the number of the first of these columns that the file has, for {@link ExportRow.cell}; {@link NO_COLUMN} without one. A file
   * whose later rows can have more columns gives a number for a column that no row has yet.
   */
  column(...names: readonly string[]): number;
}

/** The number of a column that a file does not have. */
export const NO_COLUMN = -1;

/** Reasons for which a line does not count. They are counted by reason. */
export const DROP_REASONS = [
  /** The time of a machine without GPUs. */
  "another machine",
  /** A disk, a network or a licence that names no machine of the ledger. */
  "of no GPU machine",
  /** A commitment or a reservation of machines without GPUs. */
  "commitment of other machines",
  "another service",
  /** A line that repeats the time of others and costs 0: the hours of a capacity reservation, of which the machines in it have lines. */
  "without a cost",
] as const;

export type DropReason = (typeof DROP_REASONS)[number];

/** A result of a row: lines (at most one for most rows), a reason to drop it, or the sentence and the column for which the file is refused. */
export type RowResult =
  | { readonly lines: readonly ExportLine[] }
  | { readonly drop: DropReason }
  | { readonly problem: string; readonly column: string };

/** A reader of the rows of one file. */
export interface RowReader {
  /** The form of the file, for people: `FOCUS`, `AWS CUR 2.0`. */
  readonly format: string;
  read(row: ExportRow): RowResult;
}

/** A form in which a provider writes its exports. */
export interface ExportDialect {
  readonly name: "focus" | "cur" | "azure" | "gcp" | "oci" | "mapped";
  /** Returns a reader for a file with these columns; undefined if the file is in another form. */
  open(head: ExportHead, keeping: Keeping): RowReader | undefined;
}

/**
 * Returns the name of a column without case and separators. The legacy export of AWS has `savingsPlan/SavingsPlanARN`, its Parquet form and
 * CUR 2.0 have `savings_plan_savings_plan_a_r_n`; the exports of Azure differ in case by agreement; Google's flattened exports have dots or
 * underscores.
 */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Returns the head of a file that has all of its columns in one row. The first of two columns with one name counts. */
export function createHead(names: readonly string[]): ExportHead {
  const columns = new Map<string, number>();
  for (const [column, each] of names.entries()) {
    const plain = plainName(each);
    if (!columns.has(plain)) columns.set(plain, column);
  }
  return {
    names,
    has: (name) => columns.has(plainName(name)),
    column(...wanted) {
      for (const each of wanted) {
        const column = columns.get(plainName(each));
        if (column !== undefined) return column;
      }
      return NO_COLUMN;
    },
  };
}

/**
 * Returns the numbers of the columns that a dialect knows by their names in files; undefined if the file does not have the needed ones, and so
 * is another file.
 */
export function namedColumns<Field extends string>(
  head: ExportHead,
  names: Readonly<Record<Field, readonly string[]>>,
  needed: readonly NoInfer<Field>[],
): Readonly<Record<Field, number>> | undefined {
  if (!needed.every((field) => names[field].some((name) => head.has(name)))) return undefined;
  const fields = Object.entries(names) as [Field, readonly string[]][];
  return Object.fromEntries(fields.map(([field, wanted]) => [field, head.column(...wanted)])) as Record<Field, number>;
}
