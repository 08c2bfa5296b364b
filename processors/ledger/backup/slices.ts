import { HOUR_MILLIS } from "../../../domain/time.ts";

/** An hour of a table: how many rows it has, about, and which runs count in it. Times are milliseconds since the epoch. */
export interface HourOfRows {
  readonly at: number;
  readonly rows: number;
  readonly runs: readonly string[];
}

/** Rows of a table that go into one file, or into several where one hour is too much for one. */
export interface Slice {
  readonly from: number;
  readonly until: number;
  readonly files: number;
  readonly runs: readonly string[];
}

/**
 * Cuts hours into slices of one month each at most, with about as many rows and runs as they may have; a single hour may have more
 * runs, and has as many files as it takes. The newest come first: they are what is published again.
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
