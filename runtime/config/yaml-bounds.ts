import { Lexer, Parser } from "yaml";

/** The most lists and mappings around a value of a file. Files of people have 10. */
export const MOST_DEPTH = 100;
/** The most aliases of a file. The library searches the whole file for the anchor of each. */
const MOST_ALIASES = 200;

/** The allowed depth, for a message. */
export const DEPTH_FORM = `at most ${MOST_DEPTH} lists and mappings within each other`;

/**
 * Returns the line at which a YAML text exceeds a bound, and what is allowed; undefined for other texts. The library composes values
 * recursively, so a text of 60 kB of brackets would end the process, and 20,000 aliases would take an hour.
 */
export function excessOf(text: string): { readonly line: number; readonly allowed: string } | undefined {
  const parser = new Parser();
  let aliases = 0;
  const at = (allowed: string) => ({ line: text.slice(0, parser.offset).split("\n").length, allowed });
  for (const lexeme of new Lexer().lex(text)) {
    // The parser works only while its tokens are read.
    for (const _ of parser.next(lexeme));
    // Its stack also has the document and the value.
    if (parser.stack.length > MOST_DEPTH + 2) return at(DEPTH_FORM);
    if (lexeme.startsWith("*")) aliases++;
    if (aliases > MOST_ALIASES) return at(`at most ${MOST_ALIASES} aliases`);
  }
  return undefined;
}
