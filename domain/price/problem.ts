/** Where something stands in a file: keys and places in lists, from the top. */
export type Path = readonly (string | number)[];

/** One thing that is wrong with a price book: where, what stands there, and what is allowed. */
export interface PriceProblem {
  readonly path: Path;
  /** The path as text: `prices[3].owned.purchase`. */
  readonly key: string;
  /** Left out where nothing stands there. */
  readonly value?: unknown;
  /** What is allowed, as it stands after "is not" in a sentence; of a missing key, after "required:". */
  readonly allowed: string;
}

/** A problem at a path, with its key as text. */
export function problemAt(path: Path, value: unknown, allowed: string): PriceProblem {
  return { path, key: keyOf(path), ...(value === undefined ? {} : { value }), allowed };
}

/** A path as text: `prices[3].owned.purchase`. */
export function keyOf(path: Path): string {
  const text = path.reduce<string>((all, part) => all + (typeof part === "number" ? `[${part}]` : `.${part}`), "");
  return text === "" ? "(the whole price book)" : text.replace(/^\./, "");
}

/** The path of such a text, where its keys are words. */
export function pathOf(key: string): Path {
  return Array.from(key.matchAll(/\w+/g), ([part]) => (/^\d+$/.test(part) ? Number(part) : part));
}
