/** A cell of a table: `text` from a person, or a computed `number`. A `verbatim` text is for programs and is written unchanged. */
export type CsvCell = { readonly text: string } | { readonly number: string } | { readonly verbatim: string };

/**
 * Returns a table as CSV (RFC 4180), with lines that end with CRLF. A text gets an apostrophe in front if a spreadsheet would take it for a
 * formula: if it begins with `=`, `+`, `-`, `@` or their full-width forms, a tab or a carriage return, also after blanks and invisible
 * characters, which spreadsheets skip (https://owasp.org/www-community/attacks/CSV_Injection).
 * Numbers are unchanged, including a minus.
 */
export function formatCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((cells) => `${cells.map(formatCell).join(",")}\r\n`).join("");
}

function formatCell(cell: CsvCell): string {
  if ("number" in cell) return cell.number;
  if ("verbatim" in cell) return quoted(cell.verbatim);
  return quoted(/^(?:[\s\p{Cf}]*[=+\-@＝＋－＠]|[\t\r])/u.test(cell.text) ? `'${cell.text}` : cell.text);
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
