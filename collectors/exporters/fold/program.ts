import type { LineDrop } from "../../../domain/scrape.ts";
import type { Reading } from "../../../domain/dialect/dialect.ts";

/**
 * The processing of each number of a page, in the page's order: the cell that it fills, and the conversion. A program depends only on names
 * and labels. It is kept as long as a page's text stays the same, and targets of the same kind share it.
 */
export interface Program {
  /** The number of values in the finished message: rows × columns. */
  readonly cellCount: number;
  /** The number of cells that the program fills. Cells from `cellCount` on have values that are folded into others. */
  readonly allCells: number;
  /** The cell of each number, or -1 if it is dropped. */
  readonly cells: Int32Array;
  readonly factors: Float64Array;
  readonly least: Float64Array;
  readonly most: Float64Array;
  /** 1 if a 0 means "not supported". */
  readonly zeroUnsupported: Uint8Array;
  /** Numbers that are percentages or ratios under one name. The values of the page decide; otherwise the hint counts. */
  readonly ambiguous: readonly { readonly numbers: Int32Array; readonly hint: number }[];
  /** Cells that repeat another cell's value: the row of a shared device is filled from its pods' rows. */
  readonly copies: readonly { readonly from: number; readonly to: number }[];
  /** Cells with the code of the latest of several times. Of equal times, the first counts. */
  readonly latest: readonly {
    readonly cell: number;
    readonly numbers: readonly number[];
    readonly codes: readonly number[];
  }[];
  readonly folds: Folds;
  /** From this value on, a number can be DCGM's marker for a missing value. Infinite for programs without such markers. */
  readonly leastSentinel: number;
}

/** The steps that fold cells into others, in order. A missing value makes the result missing. */
export interface Folds {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly ways: Uint8Array;
}

/** The way in which a cell is folded into another one. */
export const FOLD = { copy: 0, add: 1, largest: 2, smallest: 3 } as const;

const NO_FOLDS: Folds = { from: new Int32Array(0), to: new Int32Array(0), ways: new Uint8Array(0) };

/** The instruction for one number of a program. */
export interface Instruction {
  readonly cell: number;
  readonly reading: Reading;
  readonly factor: number;
}

/** Builds the program of a page's numbers. `undefined` marks a number that is dropped. */
export function assemble(
  cellCount: number,
  instructions: readonly (Instruction | undefined)[],
  more: Partial<Pick<Program, "ambiguous" | "copies" | "latest" | "folds" | "leastSentinel" | "allCells">>,
): Program {
  const count = instructions.length;
  const program = {
    cellCount,
    allCells: cellCount,
    cells: new Int32Array(count).fill(-1),
    factors: new Float64Array(count).fill(1),
    least: new Float64Array(count),
    most: new Float64Array(count),
    zeroUnsupported: new Uint8Array(count),
    ambiguous: [],
    copies: [],
    latest: [],
    folds: NO_FOLDS,
    leastSentinel: LEAST_SENTINEL,
    ...more,
  };
  instructions.forEach((instruction, index) => {
    if (instruction === undefined) return;
    program.cells[index] = instruction.cell;
    program.factors[index] = instruction.factor;
    program.least[index] = instruction.reading.least;
    program.most[index] = instruction.reading.most;
    program.zeroUnsupported[index] = instruction.reading.zeroMeansUnsupported === true ? 1 : 0;
  });
  return program;
}

/** Returns whether two programs are equal. */
export function sameProgram(a: Program, b: Program): boolean {
  return (
    a.cellCount === b.cellCount &&
    a.leastSentinel === b.leastSentinel &&
    sameNumbers(a.cells, b.cells) &&
    sameNumbers(a.factors, b.factors) &&
    sameNumbers(a.least, b.least) &&
    sameNumbers(a.most, b.most) &&
    sameNumbers(a.zeroUnsupported, b.zeroUnsupported) &&
    sameNumbers(a.folds.from, b.folds.from) &&
    sameNumbers(a.folds.to, b.folds.to) &&
    sameNumbers(a.folds.ways, b.folds.ways) &&
    JSON.stringify([a.copies, a.latest]) === JSON.stringify([b.copies, b.latest]) &&
    a.ambiguous.length === b.ambiguous.length &&
    a.ambiguous.every((group, i) => {
      const other = b.ambiguous[i]!;
      return group.hint === other.hint && sameNumbers(group.numbers, other.numbers);
    })
  );
}

function sameNumbers(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Called for each number that is dropped because of its value. */
export type OnDrop = (number: number, reason: LineDrop) => void;

/** The tolerance for ratios: exporters round. A value above the bound but within the tolerance becomes the bound. */
const OVERSHOOT = 1.01;

/**
 * Runs a program over a page's raw numbers and fills `out` (NaN if a value is missing). It counts nothing itself.
 * This is the hot path, with 200 numbers per page. It creates no object.
 */
export function run(program: Program, raw: Float64Array, out: Float64Array, onDrop: OnDrop): void {
  const { cells, factors, least, most, zeroUnsupported, leastSentinel } = program;
  if (program.ambiguous.length > 0) resolveUnits(program, raw);
  out.fill(Number.NaN, 0, program.allCells);
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i]!;
    if (cell < 0) continue;
    const given = raw[i]!;
    // All sentinels are above this bound. Most values are below it, and NaN is not below.
    if (!(given < leastSentinel)) {
      if (Number.isNaN(given) || given === Number.POSITIVE_INFINITY) {
        onDrop(i, "not-a-number");
        continue;
      }
      if (isSentinel(given)) {
        onDrop(i, "sentinel");
        continue;
      }
    }
    let value = given * factors[i]!;
    if (value > most[i]!) {
      if (value > most[i]! * OVERSHOOT) {
        onDrop(i, "out-of-range");
        continue;
      }
      value = most[i]!;
    } else if (value < least[i]!) {
      onDrop(i, given === Number.NEGATIVE_INFINITY ? "not-a-number" : "out-of-range");
      continue;
    } else if (given === 0 && zeroUnsupported[i] === 1) {
      onDrop(i, "unsupported-zero");
      continue;
    }
    out[cell] = value;
  }
  for (const { cell, numbers, codes } of program.latest) {
    let newest = Number.NEGATIVE_INFINITY;
    for (const [index, number] of numbers.entries()) {
      if (!(raw[number]! > newest)) continue;
      newest = raw[number]!;
      out[cell] = codes[index]!;
    }
  }
  for (const { from, to } of program.copies) out[to] = out[from]!;
  fold(program.folds, out);
}

function fold({ from, to, ways }: Folds, out: Float64Array): void {
  for (let i = 0; i < from.length; i++) {
    const value = out[from[i]!]!;
    const at = to[i]!;
    const way = ways[i]!;
    if (way === FOLD.copy) out[at] = value;
    else if (way === FOLD.add) out[at]! += value;
    else out[at] = way === FOLD.largest ? Math.max(out[at]!, value) : Math.min(out[at]!, value);
  }
}

const LEAST_SENTINEL = 2147483632;

/**
 * Returns whether a value is one of DCGM's blank values for 32-bit and 64-bit integers and for doubles (dcgm_structs.h). A double rounds
 * the 64-bit ones.
 */
function isSentinel(value: number): boolean {
  return (
    (value >= 2147483632 && value <= 2147483635) ||
    (value >= 140737488355328 && value <= 140737488355331) ||
    value >= 9.2e18
  );
}

/**
 * Decides between ratio and percentage. A fraction strictly between 0 and 1 shows a ratio, a number above 1 a percentage. If all are 0 or
 * 1, the hint from HELP and the neighboring names counts. The decision is for the whole family of a page, because one exporter has one
 * unit.
 */
function resolveUnits(program: Program, raw: Float64Array): void {
  for (const { numbers, hint } of program.ambiguous) {
    let factor = hint;
    for (const index of numbers) {
      const value = raw[index]!;
      if (value > OVERSHOOT && value < LEAST_SENTINEL) {
        factor = 0.01;
        break;
      }
      if (value > 0 && value < 1) factor = 1;
    }
    for (const index of numbers) program.factors[index] = factor;
  }
}
