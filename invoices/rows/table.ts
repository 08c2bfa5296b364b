import type { ExportHead, ExportRow } from "../../domain/invoice/dialect/dialect.ts";

/**
 * The rows of a file. `open` is called once, with the head, before the first row. `read` is called for each row. A row is only valid during
 * the call: the next row uses its memory again.
 */
export interface RowVisitor {
  open(head: ExportHead): void;
  read(row: ExportRow): void;
}

/** A step of reading: after it, the visitor has seen some more rows. */
export type RowSteps = AsyncIterable<null>;

/** A problem of a file's form, with the row that has it. */
export class FormProblem extends Error {
  readonly row: number | undefined;

  constructor(problem: string, row?: number) {
    super(problem);
    this.name = "FormProblem";
    this.row = row;
  }
}
