import type { OnSamples, Span } from "../read/samples.ts";
import type { Series } from "../target-series.ts";

/**
 * The samples of one target in a window of time, as a table: a row for each moment of a scrape, a column for each series. All series of one
 * scrape have the same time.
 */
export interface TargetWindow {
  /** Returns the receiver of the samples of a series. A sample that comes twice counts once. */
  column(series: Series): OnSamples;
  readonly series: readonly Series[];
  /** The number of samples. A sample that comes twice counts twice. */
  readonly samples: number;
  /** The times of the scrapes, sorted, with their rows in the columns. */
  moments(): readonly { readonly atMillis: number; readonly row: number }[];
  /** Returns the values of a row: NaN if a series has no sample. They are overwritten by a call for another row. */
  read(row: number): Float64Array;
}

/** Rows that are read together: the values of a column that are next to each other are in one line of the processor's cache. */
const ROWS_OF_BLOCK = 16;

/** Creates an empty window of a span. `expected` is the expected number of moments. */
export function createTargetWindow({ fromMillis, untilMillis }: Span, expected: number): TargetWindow {
  const times: number[] = [];
  const rows = new Map<number, number>();
  const indexes = new Map<Series, number>();
  const series: Series[] = [];
  const columns: Float64Array[] = [];
  let samples = 0;
  let block: Float64Array[] = [];
  let blockStart = -1;

  function addRow(atMillis: number): number {
    const row = times.push(atMillis) - 1;
    rows.set(atMillis, row);
    return row;
  }

  return {
    series,
    get samples() {
      return samples;
    },
    column(of) {
      let index = indexes.get(of);
      if (index === undefined) {
        index = series.push(of) - 1;
        indexes.set(of, index);
        columns.push(new Float64Array(expected).fill(Number.NaN));
      }
      const own = index;
      let column = columns[own]!;
      let next = 0;
      return ({ times: atTimes, values, count }) => {
        for (let sample = 0; sample < count; sample++) {
          const atMillis = atTimes[sample]!;
          if (atMillis < fromMillis || atMillis >= untilMillis) continue;
          // The series of a target have the same times, so the next sample is in the next row.
          const row = times[next] === atMillis ? next : (rows.get(atMillis) ?? addRow(atMillis));
          next = row + 1;
          if (row >= column.length) columns[own] = column = withRoom(column, row);
          column[row] = values[sample]!;
          samples += 1;
        }
      };
    },
    moments() {
      return times.map((atMillis, row) => ({ atMillis, row })).toSorted((a, b) => a.atMillis - b.atMillis);
    },
    read(row) {
      const first = row - (row % ROWS_OF_BLOCK);
      if (blockStart !== first) {
        blockStart = first;
        if ((block[0]?.length ?? 0) < columns.length)
          block = Array.from({ length: ROWS_OF_BLOCK }, () => new Float64Array(columns.length));
        fillBlock(block, columns, first);
      }
      return block[row - first]!.subarray(0, columns.length);
    },
  };
}

function withRoom(column: Float64Array, row: number): Float64Array {
  const larger = new Float64Array(row * 2 + 16).fill(Number.NaN);
  larger.set(column);
  return larger;
}

function fillBlock(block: readonly Float64Array[], columns: readonly Float64Array[], first: number): void {
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index]!;
    for (let row = 0; row < ROWS_OF_BLOCK; row++)
      block[row]![index] = first + row < column.length ? column[first + row]! : Number.NaN;
  }
}
