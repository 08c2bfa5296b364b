import { readableLine } from "../runtime/readable.ts";

/**
 * Returns a text table. Columns have the width of their widest cell, with two blanks between them. Numbers are aligned to the right.
 * Characters that control a terminal or the direction of text are shown as their codes, because names are from strangers.
 */
export function renderTable(header: readonly string[], given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(readableLine));
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => width(row[column] ?? ""))));
  const numeric = header.map(
    (_, column) => rows.length > 0 && rows.every((row) => /^[\d.,%-]*$/.test(row[column] ?? "")),
  );
  return all
    .map((row) =>
      header
        .map((_, column) => {
          const cell = row[column] ?? "";
          const pad = " ".repeat(widths[column]! - width(cell));
          return numeric[column] === true ? pad + cell : cell + pad;
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function width(cell: string): number {
  return Array.from(cell).length;
}
