import { familyOf } from "../../../domain/dialect/dialect.ts";
import type { Steps } from "../../../runtime/steps.ts";
import type { ExpositionSample, FamilyMeta } from "../exposition/parse.ts";
import type { Row } from "./page-row.ts";
import { assemble, type Instruction, type Program } from "./program.ts";
import type { Copy } from "./rows-of-gpu.ts";

/** The number of rows processed in one step. */
export const ROWS_OF_STEP = 32;

/** Compiles the program of a page's samples, in steps. Each cell of a row takes one sample. */
export function* compile(
  samples: readonly ExpositionSample[],
  families: ReadonlyMap<string, FamilyMeta>,
  rows: readonly Row[],
  columns: readonly string[],
  copies: readonly Copy[],
): Steps<Program> {
  const instructions: (Instruction | undefined)[] = samples.map(() => undefined);
  const columnOf = new Map(columns.map((column, index) => [column, index]));
  const ambiguous = new Map<string, { numbers: number[]; hint: number }>();
  const rowOf = new Map(rows.map((row, index) => [row, index]));
  const isInBaseUnits = samples.some(({ name }) => BASE_UNITS.test(name));
  for (const [rowIndex, row] of rows.entries()) {
    if (rowIndex % ROWS_OF_STEP === 0) yield;
    for (const [column, { series, reading }] of row.cells) {
      const { index, sample } = series;
      const help = (families.get(sample.name) ?? families.get(familyOf(sample.name)))?.help ?? "";
      const cell = rowIndex * columns.length + columnOf.get(column)!;
      instructions[index] = {
        cell,
        reading,
        factor: reading.timeByHelp === true ? secondsPerUnit(help) : reading.factor,
      };
      if (reading.percentOrRatio !== true) continue;
      const group = ambiguous.get(sample.name) ?? { numbers: [], hint: unitHint(help, isInBaseUnits) };
      group.numbers.push(index);
      ambiguous.set(sample.name, group);
    }
  }
  const cellOf = (row: Row, column: string): number => rowOf.get(row)! * columns.length + columnOf.get(column)!;
  return assemble(rows.length * columns.length, instructions, {
    ambiguous: [...ambiguous.values()].map(({ numbers, hint }) => ({ numbers: Int32Array.from(numbers).sort(), hint })),
    copies: copies.map(({ column, from, to }) => ({ from: cellOf(from, column), to: cellOf(to, column) })),
    latest: rows.flatMap((row) =>
      [...row.codes].map(([column, codes]) => ({
        cell: cellOf(row, column),
        numbers: codes.map(({ index }) => index),
        codes: codes.map(({ code }) => code),
      })),
    ),
  });
}

function secondsPerUnit(help: string): number {
  if (/\bns\b|nanosecond/i.test(help)) return 1e-9;
  if (/\bms\b|millisecond/i.test(help)) return 1e-3;
  return 1e-6;
}

const BASE_UNITS = /^DCGM_FI_DEV_.*_(HERTZ|BYTES|JOULES_TOTAL)$/i;

/**
 * Returns the factor for a family that can be ratios or percentages. Base units among the page's other names show DCGM 4.7, whose
 * utilization is a ratio. Otherwise HELP decides; without a hint it is a percentage.
 */
function unitHint(help: string, isInBaseUnits: boolean): number {
  if (isInBaseUnits) return 1;
  return /ratio|0\.0|0-1\b/i.test(help) && !/%|percent/i.test(help) ? 1 : 0.01;
}
