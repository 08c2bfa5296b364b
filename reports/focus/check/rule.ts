/** A row as written in a file: texts by column name; null for an empty cell. */
export type WrittenRow = Readonly<Record<string, string | null>>;

/** A rule of FOCUS, or of this project's use of it, for each row. */
export interface RowRule {
  readonly id: string;
  /** The columns of the rule. */
  readonly columns: readonly string[];
  /** The rule, in a sentence. */
  readonly text: string;
  /** Returns the column in which a row breaks the rule; undefined if the row follows it. */
  readonly brokenIn: (row: WrittenRow) => string | undefined;
}

/** A rule for several rows together, checked row by row. Only sums of the rows are kept. */
export interface FileRule {
  readonly id: string;
  readonly columns: readonly string[];
  readonly text: string;
  /** True if a violation is of the added row itself, and not of the rows before it. */
  readonly isOfRow?: true;
  /** Begins the check of a file. */
  readonly begin: (expected: Expected) => FileLook;
}

/** The expected values of a file. */
export interface Expected {
  /** Sums by column name, decimal texts, from another reading of the same question. Other columns are not checked. */
  readonly sums: Readonly<Record<string, string>>;
  /** True if the file contains all parts of each origin. With conditions in the question it does not. */
  readonly isWhole: boolean;
}

/** A check in progress. */
export interface FileLook {
  /** Returns the violation that a row reveals. */
  readonly add: (row: WrittenRow) => Broken | undefined;
  readonly end: () => readonly Broken[];
}

/** A broken column and its value. */
export interface Broken {
  readonly column: string;
  readonly found: string | null;
}
