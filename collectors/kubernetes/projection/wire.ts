/**
 * Readers of values as they come from the wire or from a person's file: whatever stands there, they answer with the
 * wanted type or with nothing, and never throw.
 */

/** A text, or undefined for anything else and for an empty one. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The objects of a list; empty where it is none, without what is no object. */
export function objects<T extends object>(value: readonly T[] | null | undefined): readonly T[] {
  if (!Array.isArray(value)) return [];
  const all = value as readonly unknown[];
  return all.every(isObject) ? (all as readonly T[]) : (all.filter(isObject) as T[]);
}

/** A map of texts; what is no text (a number that a person forgot to quote) is written as one. */
export function texts(value: unknown): Readonly<Record<string, string>> {
  if (!isObject(value) || Array.isArray(value)) return {};
  const map: Record<string, string> = {};
  for (const [key, entry] of Object.entries(value)) {
    if (typeof entry === "string") map[key] = entry;
    else if (typeof entry === "number" || typeof entry === "boolean") map[key] = String(entry);
  }
  return map;
}

/** A whole number of at least 0, or undefined. */
export function wholeNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The entries that the names select; a name that ends in `*` selects all that begin with what stands before it. */
export function named(map: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    if (name.endsWith("*")) {
      const start = name.slice(0, -1);
      for (const key of Object.keys(map)) if (key.startsWith(start)) picked[key] = map[key]!;
    } else if (Object.hasOwn(map, name)) picked[name] = map[name]!;
  }
  return picked;
}

/** The object without its undefined properties, as optional ones. */
export function given<T extends object>(object: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const kept: { [Key in keyof T]?: Exclude<T[Key], undefined> } = {};
  for (const key of Object.keys(object) as (keyof T)[]) {
    const value = object[key];
    if (value !== undefined) kept[key] = value as Exclude<T[keyof T], undefined>;
  }
  return kept;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
