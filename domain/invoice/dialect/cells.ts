import { ZERO, type Rational } from "../../exact/rational.ts";
import { periodOf } from "../../period.ts";
import { AMOUNT_FORM, readAmount } from "../amount.ts";
import { MOMENT_FORM, nextDay, readMoment } from "../moment.ts";
import { NO_COLUMN, type ExportHead, type ExportRow } from "./dialect.ts";

/**
 * The cells of the current row as values. The first cell that is not readable is the row's problem; the values after it do not count. One
 * object serves all rows of a file, because most of its rows are dropped after some cells.
 */
export interface Cells {
  /** Goes to a row. */
  at(row: ExportRow): void;
  readonly problem: { readonly problem: string; readonly column: string } | undefined;
  text(column: number): string;
  /** Returns the number of a cell; undefined for an empty cell. */
  amount(column: number): Rational | undefined;
  /** Returns the number of the first cell that has one; 0 without one. */
  firstAmount(...columns: readonly number[]): Rational;
  /** Returns the time of a cell, milliseconds since the epoch; undefined for an empty cell. */
  moment(column: number): number | undefined;
  /** Returns the time of a cell that must have one. */
  neededMoment(column: number, name: string): number;
  /** Returns the end of a line: the start of the next day where the cell is a date that is its last day. */
  endOfDay(column: number): number | undefined;
  /** Reports a problem of the row. */
  refuse(column: string, problem: string): void;
}

/** Returns the cells of a file's rows as values. `at` comes before the first one. */
export function createCells(head: ExportHead): Cells {
  let row: ExportRow = { number: 0, cell: () => "" };
  let problem: Cells["problem"];
  const refuse = (column: string, sentence: string): void => void (problem ??= { problem: sentence, column });
  const nameOf = (column: number): string => head.names[column] ?? "";
  const text = (column: number): string => (column === NO_COLUMN ? "" : row.cell(column));
  const amount = (column: number): Rational | undefined => {
    const written = text(column);
    if (written === "") return undefined;
    const value = readAmount(written);
    if (value === undefined) refuse(nameOf(column), `${JSON.stringify(written)} is not ${AMOUNT_FORM}`);
    return value;
  };
  const moment = (column: number): number | undefined => {
    const written = text(column);
    if (written === "") return undefined;
    const value = readMoment(written);
    if (value === undefined) refuse(nameOf(column), `${JSON.stringify(written)} is not ${MOMENT_FORM}`);
    return value;
  };
  return {
    at(next) {
      row = next;
      problem = undefined;
    },
    get problem() {
      return problem;
    },
    text,
    amount,
    firstAmount(...columns) {
      for (const column of columns) {
        const value = amount(column);
        if (value !== undefined) return value;
      }
      return ZERO;
    },
    moment,
    neededMoment(column, name) {
      const value = moment(column);
      if (value === undefined) refuse(nameOf(column) || name, "the cell is empty, but the line needs a time");
      return value ?? 0;
    },
    endOfDay(column) {
      const value = moment(column);
      return value === undefined ? undefined : nextDay(value);
    },
    refuse,
  };
}

/** Returns the billing period of a line: that of the file, or the month of the line's start. */
export function billingPeriod(
  from: number | undefined,
  until: number | undefined,
  lineFrom: number,
): { readonly billingFrom: number; readonly billingUntil: number } {
  const month = periodOf(from ?? lineFrom);
  return { billingFrom: from ?? month.from, billingUntil: until ?? month.until };
}
