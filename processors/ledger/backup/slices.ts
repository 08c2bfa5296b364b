import { HOUR_MILLIS } from "../../../domain/time.ts";

/** An hour of a table: its approximate number of rows, and its valid runs. Times are milliseconds since the epoch. */
export interface HourOfRows {
  readonly at: number;
  readonly rows: number;
  readonly runs: readonly string[];
}

/** Rows of a table for one file, or for several files if one hour is too large for one. */
export interface Slice {
  readonly from: number;
  readonly until: number;
  readonly files: number;
  readonly runs: readonly string[];
}

/**
 * Cuts hours into slices of at most one month each, with about the allowed number of rows and runs. A single hour may have more runs, and
 * gets as many files as it needs. The newest slices come first, because new hours are the ones that are published again.
 */
export function slicesOf(
  hours: readonly HourOfRows[],
  most: { readonly rows: number; readonly runs: number },
): readonly Slice[] {
  const slices: { from: number; until: number; rows: number; runs: string[] }[] = [];
  for (const { at, rows, runs } of hours.toSorted((a, b) => b.at - a.at)) {
    const last = slices.at(-1);
    const fits =
      last !== undefined &&
      last.rows + rows <= most.rows &&
      last.runs.length + runs.length <= most.runs &&
      monthOf(last.from) === monthOf(at);
    if (fits) {
      last.from = at;
      last.rows += rows;
      last.runs.push(...runs);
    } else slices.push({ from: at, until: at + HOUR_MILLIS, rows, runs: [...runs] });
  }
  return slices.map(({ rows, ...slice }) => ({ ...slice, files: Math.max(1, Math.ceil(rows / most.rows)) }));
}

function monthOf(millis: number): string {
  return new Date(millis).toISOString().slice(0, 7);
}
