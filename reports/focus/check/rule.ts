/** A row as it stands in a file: texts by the names of columns, null where a cell is empty. */
export type WrittenRow = Readonly<Record<string, string | null>>;

/** What FOCUS, or our use of it, says of each row. */
export interface RowRule {
  readonly id: string;
  /** The columns that it is about. */
  readonly columns: readonly string[];
  /** The rule, in a sentence. */
  readonly says: string;
  /** The column in which a row breaks it; undefined where the row keeps it. */
  readonly brokenIn: (row: WrittenRow) => string | undefined;
}

/** What FOCUS says of rows together, looked at row by row: nothing of a row is kept but sums. */
export interface FileRule {
  readonly id: string;
  readonly columns: readonly string[];
  readonly says: string;
  /** Begins with a file. */
  readonly begin: (expected: Expected) => FileLook;
}

/** What a file is held against. */
export interface Expected {
  /** Sums by the names of columns, decimal texts: what the same question comes to elsewhere. Columns that are not in it are not held. */
  readonly sums: Readonly<Record<string, string>>;
  /** Whether the parts of each origin are all in it, which they are not where it was asked for with conditions. */
  readonly isWhole: boolean;
}

/** A look through a file. */
export interface FileLook {
  /** What a row shows to have been broken by those before it. */
  readonly add: (row: WrittenRow) => Broken | undefined;
  readonly end: () => readonly Broken[];
}

/** In which column something is broken, and what is found there. */
export interface Broken {
  readonly column: string;
  readonly found: string | null;
}
