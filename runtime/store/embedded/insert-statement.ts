/**
 * The parsing of inserts with rows in the body, so that the rows go through a file.
 *
 * chDB reads a text as a script: it cuts the rows after `FORMAT …` at the first empty line, and treats the rest as the next statement. Of
 * 20,000 RowBinary rows it stored 2,570 and reported success (seen with chdb 3.4.0). `FROM INFILE` reads a separate file to its end, with
 * any bytes, in constant memory.
 */
import { AdapterError } from "./adapter-error.ts";
import { isKeyword, sqlString, sqlTokens } from "../sql-tokens.ts";
import type { SqlToken } from "../sql-tokens.ts";

/** An insert whose rows come after the statement. */
export interface InsertStatement {
  /** `INSERT INTO db.table (columns)`, as it was written. */
  readonly head: string;
  /** `SETTINGS a = 1`, as it was written, or empty. */
  readonly settings: string;
  readonly format: string;
  /** The start of the rows, if they are in the same text. */
  readonly dataStart: number;
}

/**
 * Parses an insert. `undefined` for every other text, also for `INSERT … SELECT` and `INSERT … VALUES`, which the engine reads to their end
 * by itself. Fails with 497 for `FROM INFILE`: a request must not name files of this machine.
 */
export function splitInsert(text: string): InsertStatement | undefined {
  const tokens = sqlTokens(text);
  const read = (): SqlToken | undefined => {
    const next = tokens.next();
    return next.done === true ? undefined : next.value;
  };
  if (!isKeyword(read(), "INSERT") || !isKeyword(read(), "INTO")) return undefined;
  let token = read();
  if (isKeyword(token, "TABLE")) token = read();
  if (isKeyword(token, "FUNCTION")) return undefined;

  let headEnd = 0;
  let depth = 0;
  let named = false;
  for (; token !== undefined; token = read()) {
    if (depth === 0 && named && token.kind === "word") break;
    if (token.text === "(" && token.kind === "symbol") depth += 1;
    if (token.text === ")" && token.kind === "symbol") depth -= 1;
    // A name continues after a dot, so a keyword can only follow a complete name.
    named = token.kind === "word" || token.kind === "quoted" || token.text === ")";
    headEnd = token.end;
  }
  if (isKeyword(token, "FROM")) {
    throw new AdapterError(
      497,
      "Not enough privileges: FROM INFILE reads a file of the machine; send the rows instead",
    );
  }

  let settings = "";
  if (isKeyword(token, "SETTINGS") && token !== undefined) {
    const start = token.start;
    let end = token.end;
    for (token = read(); token !== undefined && !endsSettings(token); token = read()) end = token.end;
    settings = text.slice(start, end);
  }
  if (!isKeyword(token, "FORMAT")) return undefined;
  const format = read();
  if (format?.kind !== "word" || isKeyword(format, "VALUES")) return undefined;
  return { head: text.slice(0, headEnd), settings, format: format.text, dataStart: startOfData(text, format.end) };
}

function endsSettings(token: SqlToken): boolean {
  return ["FORMAT", "VALUES", "SELECT", "WITH"].some((keyword) => isKeyword(token, keyword)) || token.text === "(";
}

/** Returns the start of the rows: after the first line break if only blanks precede it; otherwise after the blanks. */
function startOfData(text: string, from: number): number {
  let at = from;
  while (text.charAt(at) === " " || text.charAt(at) === "\t" || text.charAt(at) === "\f") at += 1;
  if (text.charAt(at) === ";") at += 1;
  if (text.charAt(at) === "\r") at += 1;
  if (text.charAt(at) === "\n") at += 1;
  return at;
}

/** Returns the same insert with its rows in a file. */
export function renderInsertFromFile(insert: InsertStatement, file: string): string {
  return `${insert.head} FROM INFILE ${sqlString(file)} ${insert.settings} FORMAT ${insert.format}`;
}
