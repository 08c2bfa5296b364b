/** A cell of a table for people: text, aligned to the left, or a number, aligned at its point. */
export type TableCell = { readonly text: string } | { readonly number: string };

/** The text of an empty cell. */
const NOTHING = "–";

/** Returns a table in columns of fixed width, with one header line and one line for each row. */
export function formatTable(heads: readonly string[], rows: readonly (readonly TableCell[])[]): string {
  const columns = heads.map((head, index) =>
    formatColumn(
      head,
      rows.map((row) => row[index]!),
    ),
  );
  const lines = Array.from({ length: rows.length + 1 }, (_, line) =>
    columns
      .map((column) => column[line]!)
      .join("  ")
      .trimEnd(),
  );
  return lines.map((line) => `${line}\n`).join("");
}

function formatColumn(head: string, cells: readonly TableCell[]): readonly string[] {
  const decimals = Math.max(0, ...cells.map((cell) => ("number" in cell ? fractionOf(cell.number).length : 0)));
  const texts = cells.map((cell) => {
    if ("text" in cell) return printable(cell.text);
    return cell.number + " ".repeat(decimals - fractionOf(cell.number).length);
  });
  const width = Math.max(...[head, ...texts].map((text) => text.length));
  const isNumbers = cells.some((cell) => "number" in cell);
  return [head, ...texts].map((text) => (isNumbers ? text.padStart(width) : text.padEnd(width)));
}

/** Returns the point and the digits after the point of a number. */
function fractionOf(number: string): string {
  return /\.\d+$/.exec(number)?.[0] ?? "";
}

/** Replaces characters that would move a terminal's cursor or end a line with a question mark. Names come from files. */
function printable(text: string): string {
  return text === "" ? NOTHING : text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
}
