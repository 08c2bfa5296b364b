import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import { formatCsv } from "../format/csv.ts";
import type { ColumnHead } from "./columns.ts";
import type { WrittenCells } from "./check/check.ts";
import type { FocusCells } from "./rows.ts";

/** The number of characters in one chunk. */
const CHARACTERS_AT_ONCE = 65_536;

/**
 * Returns rows as CSV (RFC 4180) with a header line. Null is an empty cell. Texts are unchanged: the file is for programs, and an
 * apostrophe before a spreadsheet formula would change a name.
 */
export async function* focusCsv(
  columns: readonly ColumnHead[],
  rows: AsyncIterable<readonly FocusCells[]>,
): AsyncGenerator<Uint8Array> {
  let text = csvOf([columns.map(({ name }) => name)]);
  for await (const some of rows) {
    text += csvOf(some);
    if (text.length < CHARACTERS_AT_ONCE) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}

function csvOf(rows: readonly FocusCells[]): string {
  return formatCsv(rows.map((cells) => cells.map((cell) => ({ verbatim: cell ?? "" }))));
}

/** Reads the lines of a file as written, the header first. An empty cell without quotes is null. */
export async function* readFocusCsv(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<WrittenCells> {
  const parser = parse({
    // The check reports a wrong number of cells.
    relax_column_count: true,
    cast: (text, { quoting }) => (text === "" && !quoting ? null : text),
  });
  const fed = pipeline(bytes, parser);
  // The reader of the lines gets the failure.
  fed.catch(() => {});
  yield* parser as AsyncIterable<WrittenCells>;
  await fed;
}
