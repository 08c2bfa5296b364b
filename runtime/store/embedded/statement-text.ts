/** Questions about a statement that can be answered from its text alone. */
import { isKeyword, sqlTokens } from "../sql-tokens.ts";
import type { SqlToken } from "../sql-tokens.ts";

/** Returns the format in the statement's last `FORMAT` clause, if it has one. */
export function formatClauseOf(text: string): string | undefined {
  let format: string | undefined;
  let before: SqlToken | undefined;
  let depth = 0;
  let inSettings = false;
  for (const token of sqlTokens(text)) {
    if (token.text === "(") depth += 1;
    else if (token.text === ")") depth -= 1;
    else if (depth === 0) {
      if (isKeyword(before, "FORMAT") && token.kind === "word") {
        format = token.text;
        inSettings = false;
        before = undefined;
        continue;
      }
      // After the clause, only settings and a semicolon may follow. Anything else shows that it was a column's name.
      if (isKeyword(token, "SETTINGS")) inSettings = true;
      else if (!inSettings && token.text !== ";") format = undefined;
    }
    before = token;
  }
  return format;
}

/** Returns whether the statement has a clause that names a file of this machine (`INTO OUTFILE`, `FROM INFILE`). */
export function namesLocalFile(text: string): boolean {
  for (const token of sqlTokens(text)) {
    if (isKeyword(token, "OUTFILE") || isKeyword(token, "INFILE")) return true;
  }
  return false;
}
