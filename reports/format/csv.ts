/**
 * A cell of a table: text that somebody has written, or a number that was computed here. A text for programs alone is `verbatim`: it
 * comes out of the file as it went in.
 */
export type CsvCell = { readonly text: string } | { readonly number: string } | { readonly verbatim: string };

/**
 * A table as CSV (RFC 4180), lines ended by CRLF. A text that a spreadsheet would take for a formula, because it begins with
 * `=`, `+`, `-`, `@`, a tab or a carriage return, has an apostrophe put before it
 * (https://owasp.org/www-community/attacks/CSV_Injection); a number stays as it is, its minus too.
 */
export function formatCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((cells) => `${cells.map(formatCell).join(",")}\r\n`).join("");
}

function formatCell(cell: CsvCell): string {
  if ("number" in cell) return cell.number;
  if ("verbatim" in cell) return quoted(cell.verbatim);
  return quoted(/^[=+\-@\t\r]/.test(cell.text) ? `'${cell.text}` : cell.text);
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
