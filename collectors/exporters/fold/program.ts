import type { LineDrop } from "../../../domain/scrape.ts";
import type { Reading } from "../../../domain/dialect/dialect.ts";

/**
 * What becomes of each number of a page, in the page's order: the cell that it fills, and how. A program depends on
 * names and labels alone, so one is kept as long as a page's text stays the same, and targets of the same make share it.
 */
export interface Program {
  /** Values of the finished message: rows × columns. */
  readonly cellCount: number;
  /** The cell of each number, or -1 where it is left out. */
  readonly cells: Int32Array;
  readonly factors: Float64Array;
  readonly least: Float64Array;
  readonly most: Float64Array;
  /** 1 where a 0 says "not supported". */
  readonly zeroUnsupported: Uint8Array;
  /** Numbers that are percents or ratios under one name: the values of the page decide, else the hint. */
  readonly ambiguous: readonly { readonly numbers: Int32Array; readonly hint: number }[];
  /** Cells that repeat another cell's value: a shared device's own row is filled from its pods' rows. */
  readonly copies: readonly { readonly from: number; readonly to: number }[];
  /** Cells that have the code of the number, a time, that is the latest; the first of equal ones. */
  readonly latest: readonly {
    readonly cell: number;
    readonly numbers: readonly number[];
    readonly codes: readonly number[];
  }[];
}

/** One number's part of a program. */
export interface Instruction {
  readonly cell: number;
  readonly reading: Reading;
  readonly factor: number;
}

/** The program of a page's numbers; `undefined` marks a number that is left out. */
export function assemble(
  cellCount: number,
  instructions: readonly (Instruction | undefined)[],
  ambiguous: Program["ambiguous"],
  copies: Program["copies"],
  latest: Program["latest"],
): Program {
  const count = instructions.length;
  const program = {
    cellCount,
    cells: new Int32Array(count).fill(-1),
    factors: new Float64Array(count).fill(1),
    least: new Float64Array(count),
    most: new Float64Array(count),
    zeroUnsupported: new Uint8Array(count),
    ambiguous,
    copies,
    latest,
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

/** Whether two programs do the same. */
export function sameProgram(a: Program, b: Program): boolean {
  return (
    a.cellCount === b.cellCount &&
    sameNumbers(a.cells, b.cells) &&
    sameNumbers(a.factors, b.factors) &&
    sameNumbers(a.least, b.least) &&
    sameNumbers(a.most, b.most) &&
    sameNumbers(a.zeroUnsupported, b.zeroUnsupported) &&
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

/** Told of each number that is left out for its value. */
export type OnDrop = (number: number, reason: LineDrop) => void;

/** A ratio may exceed its bound by this much: exporters round. What is above the bound but within is the bound. */
const OVERSHOOT = 1.01;

/**
 * Runs a program over a page's raw numbers and fills `out` (NaN where nothing was given). Counts nothing itself.
 *
 * The hot path: 200 numbers a page; no object is made.
 */
export function run(program: Program, raw: Float64Array, out: Float64Array, onDrop: OnDrop): void {
  const { cells, factors, least, most, zeroUnsupported } = program;
  if (program.ambiguous.length > 0) resolveUnits(program, raw);
  out.fill(Number.NaN, 0, program.cellCount);
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i]!;
    if (cell < 0) continue;
    const given = raw[i]!;
    // All sentinels lie above this bound; most values lie below, and NaN is not below.
    if (!(given < LEAST_SENTINEL)) {
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
}

const LEAST_SENTINEL = 2147483632;

/** DCGM's blank values for 32-bit and 64-bit integers and for doubles (dcgm_structs.h); a double rounds the 64-bit ones. */
function isSentinel(value: number): boolean {
  return (
    (value >= 2147483632 && value <= 2147483635) ||
    (value >= 140737488355328 && value <= 140737488355331) ||
    value >= 9.2e18
  );
}

/**
 * A fraction strictly between 0 and 1 shows a ratio, a number above 1 a percent; where all are 0 or 1, the hint that
 * HELP and the neighbouring names gave holds. Decided for the whole family of a page: one exporter has one unit.
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
