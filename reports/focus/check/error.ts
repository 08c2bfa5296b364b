import type { CheckOutcome, Violation } from "./check.ts";

/** A file that breaks rules of FOCUS, or whose sums are wrong. */
export class FocusCheckError extends Error {
  readonly code = "focus-check-failed";
  readonly retriable = false;
  readonly outcome: CheckOutcome;

  constructor(outcome: CheckOutcome) {
    const { count, violations } = outcome;
    const lines = violations.map((violation) => `\n  ${violationSentence(violation)}`).join("");
    const others = count > violations.length ? `\n  and ${count - violations.length} others` : "";
    super(`the file breaks rules of FOCUS, ${count} times:${lines}${others}`);
    this.name = "FocusCheckError";
    this.outcome = outcome;
  }
}

/** Returns a violation as a sentence with the row, the column, the rule and the value. */
function violationSentence({ rule, text, column, row, key, found }: Violation): string {
  const where = row === 0 ? "header" : `row ${row} (${key})`;
  return `${where}, ${column}: ${text} [${rule}]; found ${found === null ? "null" : JSON.stringify(found)}`;
}
