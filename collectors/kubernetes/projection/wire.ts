/** Readers of values from the wire or from a person's file. They return the wanted type or nothing for any input, and never throw. */

/** Returns a non-empty text, or undefined for anything else. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the objects of a list, without entries that are not objects; empty if the value is not a list. */
export function objects<T extends object>(value: readonly T[] | null | undefined): readonly T[] {
  if (!Array.isArray(value)) return [];
  const all = value as readonly unknown[];
  return all.every(isObject) ? (all as readonly T[]) : (all.filter(isObject) as T[]);
}

/** Returns a map of texts. Numbers and booleans (a person forgot the quotes) become texts; other values are left out. */
export function texts(value: unknown): Readonly<Record<string, string>> {
  if (!isObject(value) || Array.isArray(value)) return {};
  const map: Record<string, string> = {};
  for (const [key, entry] of Object.entries(value)) {
    if (typeof entry === "string") map[key] = entry;
    else if (typeof entry === "number" || typeof entry === "boolean") map[key] = String(entry);
  }
  return map;
}

/** Returns a whole number of at least 0, or undefined. */
export function wholeNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Returns the entries that the names select. A name that ends in `*` selects all keys with that prefix. */
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

/** Returns the object without its undefined properties. */
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
