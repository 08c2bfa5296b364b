import { exactDecimal } from "../../../domain/exact/rational.ts";
import { createHead, NO_COLUMN, type RowResult } from "../../../domain/invoice/dialect/dialect.ts";
import { GPU_MACHINES, type Keeping } from "../../../domain/invoice/dialect/keeping.ts";
import type { Mapping } from "../../../domain/invoice/dialect/mapped.ts";
import { recognize } from "../../../domain/invoice/dialect/recognize.ts";
import type { ExportCosts, ExportLine } from "../../../domain/invoice/export-line.ts";

/** The cells of a row by the names of their columns. The others are empty. */
export type NamedCells = Readonly<Record<string, string>>;

/** Returns what the dialect of these columns makes of one row. Throws if no dialect knows the columns. */
export function resultOf(cells: NamedCells, keeping: Partial<Keeping> = {}, mapping?: Mapping): RowResult {
  const names = Object.keys(cells);
  const reader = recognize(createHead(names), { ...GPU_MACHINES, ...keeping }, mapping);
  if (reader === undefined) throw new Error(`no dialect has the columns ${names.join(", ")}`);
  return reader.read({ number: 1, cell: (column) => (column === NO_COLUMN ? "" : (cells[names[column]!] ?? "")) });
}

/** Returns the lines of one row. Throws if the row is dropped or has a problem. */
export function linesOf(cells: NamedCells, keeping: Partial<Keeping> = {}, mapping?: Mapping): readonly ExportLine[] {
  const result = resultOf(cells, keeping, mapping);
  if (!("lines" in result)) throw new Error(`no line: ${JSON.stringify(result)}`);
  return result.lines;
}

/** Returns the only line of one row. */
export function lineOf(cells: NamedCells, keeping: Partial<Keeping> = {}, mapping?: Mapping): ExportLine {
  const lines = linesOf(cells, keeping, mapping);
  if (lines.length !== 1) throw new Error(`${lines.length} lines`);
  return lines[0]!;
}

/** Returns the costs as `list contracted effective billed`. */
export function costText({ list, contracted, effective, billed }: ExportCosts): string {
  return [list, contracted, effective, billed].map((cost) => exactDecimal(cost, 30) ?? "?").join(" ");
}

/** Returns the kind and the costs of each line: `machine 1 1 0.5 0`. */
export function kindsOf(lines: readonly ExportLine[]): readonly string[] {
  return lines.map(({ kind, costs }) => `${kind} ${costText(costs)}`);
}
