/** The kind of an {@link ExportError}. */
export type ExportErrorCode = "unknown-format" | "unreadable-row" | "unreadable-file";

/** The reason why a file of an export is not read. No part of the file counts. Trying again does not help before the file is another one. */
export class ExportError extends Error {
  readonly code: ExportErrorCode;
  readonly file: string;
  /** The row, if the problem is in one: the first after the head is 1. */
  readonly row: number | undefined;
  /** The column, if the problem is in one cell. */
  readonly column: string | undefined;
  readonly retriable = false;

  constructor(
    code: ExportErrorCode,
    file: string,
    problem: string,
    at: { readonly row?: number | undefined; readonly column?: string | undefined; readonly cause?: unknown } = {},
  ) {
    const row = at.row === undefined ? "" : `, row ${at.row}`;
    const column = at.column === undefined ? "" : `, column ${at.column}`;
    super(`${file}${row}${column}: ${problem}`, { cause: at.cause });
    this.name = "ExportError";
    this.code = code;
    this.file = file;
    this.row = at.row;
    this.column = at.column;
  }
}
