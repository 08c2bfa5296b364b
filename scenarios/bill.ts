import { sum, type Carbon, type GpuHours, type Money } from "../domain/exact/units.ts";

/** The names of a line's dimensions and what each says; a dimension that says nothing is empty or absent. */
export type Dimensions = Readonly<Record<string, string>>;

/** A line of a bill: a quantity in GPU-hours and what it costs, both exact, with everything that it can be grouped by. */
export interface BillLine {
  readonly dimensions: Dimensions;
  readonly gpuHours: GpuHours;
  /** Effective; undefined where nothing prices it. */
  readonly cost: Money | undefined;
  /** Energy at the GPU; undefined where nothing was measured. */
  readonly millijoules?: bigint | undefined;
  readonly carbon?: Carbon | undefined;
}

/** The bill of a scenario under one policy. */
export interface Bill {
  readonly lines: readonly BillLine[];
  /** The cost of all priced lines. */
  readonly total: Money;
  /** What later facts changed in a period that was closed; absent where none was. */
  readonly corrections?: readonly BillLine[];
}

/** Lines that agree in the dimensions that somebody asked for, added up. */
export interface BillGroup {
  /** Those that were asked for, in that order; empty for what a line does not say. */
  readonly dimensions: Dimensions;
  readonly gpuHours: GpuHours;
  /** Of the lines that have a price; undefined where none has. */
  readonly cost: Money | undefined;
  /** Of the lines that have any; undefined where none has. */
  readonly millijoules: bigint | undefined;
  readonly carbon: Carbon | undefined;
}

/** Adds up the lines that agree in the given dimensions: a group each, in the order of what the dimensions say. */
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
      dimensions: Object.fromEntries(by.map((name, place) => [name, values[place]!])),
      gpuHours: sum(members.map(({ gpuHours }) => gpuHours)),
      cost: sumOfGiven(members, ({ cost }) => cost),
      millijoules: sumOfGiven(members, ({ millijoules }) => millijoules),
      carbon: sumOfGiven(members, ({ carbon }) => carbon),
    }));
}

/** What the values of a group's dimensions are known by: one text for each combination. */
export function groupKey(values: readonly string[]): string {
  return JSON.stringify(values);
}

/** The GPU-hours of lines, whether they are priced or not. */
export function gpuHoursOf(lines: readonly BillLine[]): GpuHours {
  return sum(lines.map(({ gpuHours }) => gpuHours));
}

/** The GPU-hours of the lines that nothing prices. */
export function unpricedGpuHoursOf(lines: readonly BillLine[]): GpuHours {
  return gpuHoursOf(lines.filter(({ cost }) => cost === undefined));
}

/** The sum of what lines have of something; undefined where none has any. */
function sumOfGiven<Count extends bigint>(
  lines: readonly BillLine[],
  of: (line: BillLine) => Count | undefined,
): Count | undefined {
  const given = lines.flatMap((line) => of(line) ?? []);
  return given.length === 0 ? undefined : (given.reduce<bigint>((total, each) => total + each, 0n) as Count);
}

function compareValues(a: readonly string[], b: readonly string[]): number {
  const place = a.findIndex((value, index) => value !== b[index]);
  return place === -1 ? 0 : compareText(a[place]!, b[place]!);
}

/** Numbers by value, other text by code unit, so that the order depends on no locale. */
function compareText(a: string, b: string): number {
  if (/^\d+$/.test(a) && /^\d+$/.test(b) && Number(a) !== Number(b)) return Number(a) - Number(b);
  return a < b ? -1 : Number(a > b);
}
