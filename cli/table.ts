/**
 * Returns a text table. Columns have the width of their widest cell, with two blanks between them. Numbers are aligned to the right.
 * Characters that control a terminal or the direction of text are shown as their codes, because names are from strangers.
 */
export function renderTable(header: readonly string[], given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(withoutControls));
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

function withoutControls(cell: string): string {
  return cell.replaceAll(/[\p{Cc}\p{Cf}]/gu, codeOf);
}

/** Returns a text as a terminal may show it: line breaks and tabs stay, and other characters as in {@link renderTable} are codes. */
export function readable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|\p{Cf}/gu, codeOf);
}

function codeOf(sign: string): string {
  return `\\u{${sign.codePointAt(0)!.toString(16)}}`;
}

function width(cell: string): number {
  return Array.from(cell).length;
}
