import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import { formatCsv } from "../format/csv.ts";
import { FOCUS_COLUMNS } from "./columns.ts";
import type { WrittenCells } from "./check/check.ts";
import type { FocusCells } from "./rows.ts";

/** So many characters are given on at once. */
const CHARACTERS_AT_ONCE = 65_536;

/**
 * Rows as CSV (RFC 4180) with a line of heads. A null is an empty cell. Texts stand as they are: the file is for programs, and an
 * apostrophe before what a spreadsheet takes for a formula would be another name for them.
 */
export async function* focusCsv(rows: AsyncIterable<readonly FocusCells[]>): AsyncGenerator<Uint8Array> {
  let text = csvOf([FOCUS_COLUMNS.map(({ name }) => name)]);
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

/** A file's lines as they stand in it, its heads first: an empty cell is null, unless it stands in quotes. */
export async function* readFocusCsv(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<WrittenCells> {
  const parser = parse({
    // How many cells a line has is for the check to say.
    relax_column_count: true,
    cast: (text, { quoting }) => (text === "" && !quoting ? null : text),
  });
  const fed = pipeline(bytes, parser);
  // Whoever stops in between hears of it where the lines are read.
  fed.catch(() => {});
  yield* parser as AsyncIterable<WrittenCells>;
  await fed;
}
