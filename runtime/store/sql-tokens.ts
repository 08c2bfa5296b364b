/** A tokenizer for ClickHouse SQL. It can find clauses without confusion by strings and comments. */

/** A token of a statement. `start` and `end` are positions in the text. Comments and blanks are not tokens. */
export interface SqlToken {
  readonly kind: "word" | "quoted" | "string" | "number" | "symbol";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const wordStart = /[A-Za-z_\u0080-\uffff]/;
const wordPattern = /[A-Za-z0-9_$\u0080-\uffff]+/y;
const numberPattern = /[0-9][A-Za-z0-9_.]*/y;
const heredocPattern = /\$[A-Za-z0-9_]*\$/y;

/** Yields the tokens of a text, up to its end or to the first string, quote or comment that is never closed. */
export function* sqlTokens(text: string): Generator<SqlToken, void, undefined> {
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    const comment = endOfBlankOrComment(text, at);
    if (comment > at) {
      at = comment;
      continue;
    }
    const start = at;
    let kind: SqlToken["kind"];
    if (character === "'" || character === "`" || character === '"') {
      at = endOfQuoted(text, at, character);
      kind = character === "'" ? "string" : "quoted";
    } else if (wordStart.test(character)) {
      at = endOfMatch(wordPattern, text, at);
      kind = "word";
    } else if (/[0-9]/.test(character)) {
      at = endOfMatch(numberPattern, text, at);
      kind = "number";
    } else if (character === "$" && endOfMatch(heredocPattern, text, at) > at) {
      const open = endOfMatch(heredocPattern, text, at);
      const close = text.indexOf(text.slice(start, open), open);
      at = close < 0 ? -1 : close + (open - start);
      kind = "string";
    } else {
      at += 1;
      kind = "symbol";
    }
    if (at < 0) return;
    yield { kind, text: text.slice(start, at), start, end: at };
  }
}

/** Returns whether a token is this keyword. Keywords are not quoted, and case does not matter. */
export function isKeyword(token: SqlToken | undefined, keyword: string): boolean {
  return token?.kind === "word" && token.text.toUpperCase() === keyword;
}

function endOfMatch(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function endOfBlankOrComment(text: string, at: number): number {
  const character = text.charAt(at);
  if (/\s/.test(character)) return at + 1;
  const two = text.slice(at, at + 2);
  if (two === "--" || two === "#!" || two === "# ") {
    const end = text.indexOf("\n", at);
    return end < 0 ? text.length : end + 1;
  }
  if (two === "/*") {
    const end = text.indexOf("*/", at + 2);
    return end < 0 ? text.length : end + 2;
  }
  return at;
}

/** Returns the position after the closing quote, or -1. A backslash escapes. A doubled quote is a literal quote. */
function endOfQuoted(text: string, at: number, quote: string): number {
  let position = at + 1;
  while (position < text.length) {
    const character = text.charAt(position);
    if (character === "\\") position += 2;
    else if (character !== quote) position += 1;
    else if (text.charAt(position + 1) === quote) position += 2;
    else return position + 1;
  }
  return -1;
}

/** Returns a ClickHouse string literal with exactly this value. */
export function sqlString(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** Returns a ClickHouse identifier with exactly this name. */
export function sqlIdentifier(name: string): string {
  return `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
}
