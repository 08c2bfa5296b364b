/** A problem in a file: the key, the line, the value, and what is allowed. */
export interface FileProblem {
  readonly key: string;
  readonly line?: number;
  readonly value?: unknown;
  readonly allowed: string;
  /** Set if the key itself is wrong. `allowed` then describes keys, not values. */
  readonly isUnknownKey?: true;
  /** Set if the value is a text that is not printed. */
  readonly isHidden?: true;
}

/** Formats a problem as one line: the key, its line, the value and what is allowed. */
export function describeProblem({ key, line, value, allowed, isUnknownKey, isHidden }: FileProblem): string {
  const where = line === undefined ? key : `${key} (line ${line})`;
  if (isUnknownKey === true || value === undefined) return `  ${where}: ${allowed}`;
  return `  ${where}: ${isHidden === true ? "a text" : shownValue(key, value)} is not ${allowed}`;
}

/** Words in the keys of secrets, of hashes, and of texts that can contain a password. */
const SECRET_KEY = /pass|token|secret|key|credential|auth|basic|sha256|hash|bearer|dsn|webhook/i;
/** A user with a password in an address, with any signs in it, or the content of a PEM file, which can be a private key. */
const SECRET_TEXT = /:.*@|-----BEGIN/s;

/** Returns the value of a key for a message: only a number, a truth value, or a text that cannot be a secret. */
function shownValue(key: string, value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a mapping";
  const isSecret = SECRET_KEY.test(key) || (typeof value === "string" && SECRET_TEXT.test(value));
  return isSecret ? "the value" : JSON.stringify(value);
}
