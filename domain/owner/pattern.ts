import { commonName, fitsGlob, isGlob, literalLength } from "../glob.ts";

/** A compiled name pattern. */
export interface Pattern {
  readonly text: string;
  readonly kind: "exact" | "glob" | "regex";
  /** The number of literal characters in an exact name or a glob; 0 for a regular expression. */
  readonly literals: number;
  fits(name: string): boolean;
}

const LONGEST = 200;
const MOST_REPEATS = 3;
const MOST_BARS = 20;

/** The form of a pattern, for error messages. */
const PATTERN_FORM = "a name, a glob such as vision-*, or a regular expression between slashes, such as /nlp-.+/";

/**
 * Parses a name, a glob, or a regular expression between slashes that must match the whole name. Returns the allowed form if the text is
 * invalid. To keep every match fast (Kubernetes names have at most 253 characters), an expression has no repeated groups, no back
 * references, at most 3 of `*`, `+`, `?` and `{n,m}`, and at most 20 bars.
 */
export function readPattern(text: string): Pattern | { readonly allowed: string } {
  if (text === "") return { allowed: PATTERN_FORM };
  const [, body] = /^\/(.+)\/$/.exec(text) ?? [];
  if (body !== undefined) return readExpression(text, body);
  if (!isGlob(text)) return { text, kind: "exact", literals: text.length, fits: (name) => name === text };
  return { text, kind: "glob", literals: literalLength(text), fits: (name) => fitsGlob(text, name) };
}

function readExpression(text: string, body: string): Pattern | { readonly allowed: string } {
  const why = riskOf(body);
  if (why !== undefined) return { allowed: `a regular expression with bounded run time: ${why}` };
  try {
    const expression = new RegExp(`^(?:${body})$`, "u");
    return { text, kind: "regex", literals: 0, fits: (name) => expression.test(name) };
  } catch (error) {
    return { allowed: `a valid regular expression (${error instanceof Error ? error.message : String(error)})` };
  }
}

function riskOf(body: string): string | undefined {
  if (body.length > LONGEST) return `it is longer than ${LONGEST} characters`;
  if (/\\k<|\\[1-9]/.test(body)) return "it refers back to a group";
  // An escaped character and a class stand for one character each, so they contain no operators.
  const plain = body
    .replace(/\\./g, "a")
    .replace(/\[[^\]]*\]/g, "a")
    .replace(/\(\?(?:[:=!]|<[=!]|<\w+>)/g, "(");
  if (/\)(?:[*+]|\{)/.test(plain)) return "it repeats a group";
  const repeats = plain.match(/[*+?]|\{\d+,\d*\}/g)?.length ?? 0;
  if (repeats > MOST_REPEATS) return `it has more than ${MOST_REPEATS} of *, +, ? and {n,m}`;
  return plain.split("|").length - 1 > MOST_BARS ? `it has more than ${MOST_BARS} bars` : undefined;
}

/**
 * Returns whether a name exists that matches both of two globs or exact names. For regular expressions, returns whether they are the same.
 */
export function canMeet(one: Pattern, other: Pattern): boolean {
  if (one.text === other.text) return true;
  if (one.kind === "regex" || other.kind === "regex") return false;
  if (one.kind === "exact") return other.fits(one.text);
  if (other.kind === "exact") return one.fits(other.text);
  return commonName(one.text, other.text) !== undefined;
}
