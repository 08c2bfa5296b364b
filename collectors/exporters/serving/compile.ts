import { MOST_OF_SERVING_UNIT } from "../../../domain/serving/dialect/dialect.ts";
import { SERVING_METRIC_BY_NAME } from "../../../domain/serving/metric.ts";
import type { Steps } from "../../../runtime/steps.ts";
import { assemble, FOLD, type Instruction, type Program } from "../fold/program.ts";
import type { Row } from "./rows.ts";

/** The number of series of rows that are compiled in one step. */
const SERIES_OF_STEP = 256;

/**
 * Compiles the program of a page. The first series of a cell is written into it. Each further one is written into a cell behind the rows and
 * then folded. Totals follow, because they add whole cells.
 */
export function* compileServing(count: number, rows: readonly Row[], columns: readonly string[]): Steps<Program> {
  const instructions: (Instruction | undefined)[] = Array.from({ length: count });
  const columnOf = new Map(columns.map((column, index) => [column, index]));
  const readings = new Map(columns.map((column) => [column, { factor: 1, least: 0, most: mostOf(column) }]));
  const cellCount = rows.length * columns.length;
  const folds = createFoldList();
  const totals = createFoldList();
  let allCells = cellCount;
  let work = 0;
  for (const [number, row] of rows.entries()) {
    const cellOf = (column: string): number => number * columns.length + columnOf.get(column)!;
    for (const [column, series] of row.cells) {
      const first = cellOf(column);
      const reading = readings.get(column)!;
      const way = foldOf(column);
      for (const [position, { index, alias }] of series.entries()) {
        if (work++ % SERIES_OF_STEP === 0) yield;
        const cell = position === 0 ? first : allCells++;
        instructions[index] = { cell, reading, factor: alias.factor };
        if (position > 0) folds.add(cell, first, way);
      }
    }
    for (const [column, parts] of Object.entries(row.dialect.totals ?? {})) {
      const present = parts.filter((part) => row.cells.has(part));
      present.forEach((part, position) => {
        const isFirst = position === 0 && !row.cells.has(column);
        totals.add(cellOf(part), cellOf(column), isFirst ? FOLD.copy : FOLD.add);
      });
    }
  }
  yield;
  return assemble(cellCount, instructions, {
    allCells,
    folds: {
      from: new Int32Array([...folds.from, ...totals.from]),
      to: new Int32Array([...folds.to, ...totals.to]),
      ways: new Uint8Array([...folds.ways, ...totals.ways]),
    },
    leastSentinel: Number.POSITIVE_INFINITY,
  });
}

function createFoldList() {
  const from: number[] = [];
  const to: number[] = [];
  const ways: number[] = [];
  return {
    from,
    to,
    ways,
    add(fromCell: number, toCell: number, way: number): void {
      from.push(fromCell);
      to.push(toCell);
      ways.push(way);
    },
  };
}

/** Counts and amounts are added. Of ratios and states the largest counts, of starts the oldest. */
function foldOf(column: string): number {
  const { unit } = SERVING_METRIC_BY_NAME.get(column)!;
  if (unit === "milliseconds") return FOLD.smallest;
  return unit === "ppm" || column === "asleep" ? FOLD.largest : FOLD.add;
}

function mostOf(column: string): number {
  return column === "asleep" ? 1 : MOST_OF_SERVING_UNIT[SERVING_METRIC_BY_NAME.get(column)!.unit];
}
