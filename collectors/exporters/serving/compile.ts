import { MOST_OF_SERVING_UNIT } from "../../../domain/serving/dialect/dialect.ts";
import { SERVING_METRIC_BY_NAME } from "../../../domain/serving/metric.ts";
import type { Steps } from "../../../runtime/steps.ts";
import { assemble, FOLD, type Instruction, type Program } from "../fold/program.ts";
import type { Row } from "./rows.ts";

const ROWS_OF_STEP = 32;

/**
 * Compiles the program of a page. The first series of a cell is written into it. Each further one is written into a cell behind the rows and
 * then folded. Totals follow, because they add whole cells.
 */
export function* compileServing(count: number, rows: readonly Row[], columns: readonly string[]): Steps<Program> {
  const instructions: (Instruction | undefined)[] = Array.from({ length: count });
  const columnOf = new Map(columns.map((column, index) => [column, index]));
  const readings = new Map(columns.map((column) => [column, { factor: 1, least: 0, most: mostOf(column) }]));
  const cellCount = rows.length * columns.length;
  const folds: { readonly from: number; readonly to: number; readonly way: number }[] = [];
  const totals: typeof folds = [];
  let allCells = cellCount;
  for (const [number, row] of rows.entries()) {
    if (number % ROWS_OF_STEP === 0) yield;
    const cellOf = (column: string): number => number * columns.length + columnOf.get(column)!;
    for (const [column, series] of row.cells) {
      for (const [position, { index, alias }] of series.entries()) {
        const cell = position === 0 ? cellOf(column) : allCells++;
        instructions[index] = { cell, reading: readings.get(column)!, factor: alias.factor };
        if (position > 0) folds.push({ from: cell, to: cellOf(column), way: foldOf(column) });
      }
    }
    for (const [column, parts] of Object.entries(row.dialect.totals ?? {})) {
      const present = parts.filter((part) => row.cells.has(part));
      present.forEach((part, position) => {
        const isFirst = position === 0 && !row.cells.has(column);
        totals.push({ from: cellOf(part), to: cellOf(column), way: isFirst ? FOLD.copy : FOLD.add });
      });
    }
  }
  const steps = [...folds, ...totals];
  return assemble(cellCount, instructions, {
    allCells,
    folds: {
      from: Int32Array.from(steps, ({ from }) => from),
      to: Int32Array.from(steps, ({ to }) => to),
      ways: Uint8Array.from(steps, ({ way }) => way),
    },
    leastSentinel: Number.POSITIVE_INFINITY,
  });
}

/** Counts and amounts are added. Of ratios, states and times, the largest counts. */
function foldOf(column: string): number {
  const { unit } = SERVING_METRIC_BY_NAME.get(column)!;
  return unit === "ppm" || unit === "milliseconds" || column === "asleep" ? FOLD.largest : FOLD.add;
}

function mostOf(column: string): number {
  return column === "asleep" ? 1 : MOST_OF_SERVING_UNIT[SERVING_METRIC_BY_NAME.get(column)!.unit];
}
