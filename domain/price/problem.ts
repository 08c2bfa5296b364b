/** A path in a file: keys and list indexes, from the top. */
export type Path = readonly (string | number)[];

/** A problem in a price book: the path, the value, and what is allowed. */
export interface PriceProblem {
  readonly path: Path;
  /** The path as text: `prices[3].owned.purchase`. */
  readonly key: string;
  /** Absent if there is no value. */
  readonly value?: unknown;
  /** The allowed values. The text follows "is not" in a sentence; for a missing key, it follows "required:". */
  readonly allowed: string;
}

/** Creates a problem at a path, with its key as text. */
export function problemAt(path: Path, value: unknown, allowed: string): PriceProblem {
  return { path, key: keyOf(path), ...(value === undefined ? {} : { value }), allowed };
}

/** Formats a path as text: `prices[3].owned.purchase`. */
export function keyOf(path: Path): string {
  const text = path.reduce<string>((all, part) => all + (typeof part === "number" ? `[${part}]` : `.${part}`), "");
  return text === "" ? "(the whole price book)" : text.replace(/^\./, "");
}

/** Parses such a text to a path. Its keys must be words. */
export function pathOf(key: string): Path {
  return Array.from(key.matchAll(/\w+/g), ([part]) => (/^\d+$/.test(part) ? Number(part) : part));
}
