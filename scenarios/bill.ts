import { groupKey, type Dimensions } from "./dimensions.ts";
import type { ServedLine } from "./served.ts";
import { sum, type Carbon, type GpuHours, type Money } from "../domain/exact/units.ts";

/** A line of a bill: a quantity in GPU-hours and its cost, both exact, with every dimension for groups. */
export interface BillLine {
  readonly dimensions: Dimensions;
  readonly gpuHours: GpuHours;
  /** The effective cost; undefined if nothing prices the line. */
  readonly cost: Money | undefined;
  /** Energy at the GPU; undefined if nothing was measured. */
  readonly millijoules?: bigint | undefined;
  readonly carbon?: Carbon | undefined;
}

/** The bill of a scenario under one policy. */
export interface Bill {
  readonly lines: readonly BillLine[];
  /** The cost of all priced lines. */
  readonly total: Money;
  /** The changes that later facts made to a closed period; absent if there are none. */
  readonly corrections?: readonly BillLine[];
  /** The lines of services; absent if nothing served. */
  readonly served?: readonly ServedLine[];
}

/** The sum of lines that are equal in the requested dimensions. */
export interface BillGroup {
  /** The requested dimensions, in their order; empty if a line has no value. */
  readonly dimensions: Dimensions;
  readonly gpuHours: GpuHours;
  /** The cost of the priced lines; undefined if there are none. */
  readonly cost: Money | undefined;
  /** The energy of the lines with energy; undefined if there are none. */
  readonly millijoules: bigint | undefined;
  readonly carbon: Carbon | undefined;
}

/** Adds up the lines that are equal in the given dimensions, to one group each, in the order of the dimensions' values. */
export function groupLines(lines: readonly BillLine[], by: readonly string[]): readonly BillGroup[] {
  const groups = new Map<string, { values: readonly string[]; lines: BillLine[] }>();
  for (const line of lines) {
    const values = by.map((name) => line.dimensions[name] ?? "");
    const key = groupKey(values);
    const group = groups.get(key) ?? { values, lines: [] };
    groups.set(key, group);
    group.lines.push(line);
  }
  return [...groups.values()]
    .toSorted((a, b) => compareValues(a.values, b.values))
    .map(({ values, lines: members }) => ({
      dimensions: Object.fromEntries(by.map((name, index) => [name, values[index]!])),
      gpuHours: sum(members.map(({ gpuHours }) => gpuHours)),
      cost: sumOfGiven(members, ({ cost }) => cost),
      millijoules: sumOfGiven(members, ({ millijoules }) => millijoules),
      carbon: sumOfGiven(members, ({ carbon }) => carbon),
    }));
}

/** Returns the GPU-hours of lines, priced or not. */
export function gpuHoursOf(lines: readonly BillLine[]): GpuHours {
  return sum(lines.map(({ gpuHours }) => gpuHours));
}

/** Returns the GPU-hours of the unpriced lines. */
export function unpricedGpuHoursOf(lines: readonly BillLine[]): GpuHours {
  return gpuHoursOf(lines.filter(({ cost }) => cost === undefined));
}

/** Returns the sum of a field of lines; undefined if no line has it. */
function sumOfGiven<Count extends bigint>(
  lines: readonly BillLine[],
  of: (line: BillLine) => Count | undefined,
): Count | undefined {
  const given = lines.flatMap((line) => of(line) ?? []);
  return given.length === 0 ? undefined : (given.reduce<bigint>((total, each) => total + each, 0n) as Count);
}

function compareValues(a: readonly string[], b: readonly string[]): number {
  const first = a.findIndex((value, index) => value !== b[index]);
  return first === -1 ? 0 : compareText(a[first]!, b[first]!);
}

/** Compares numbers by value, and other text by code unit, so that the order does not depend on a locale. */
function compareText(a: string, b: string): number {
  if (/^\d+$/.test(a) && /^\d+$/.test(b) && Number(a) !== Number(b)) return Number(a) - Number(b);
  return a < b ? -1 : Number(a > b);
}
