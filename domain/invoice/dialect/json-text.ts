/** A JSON object, or an empty one for a text that is none. Columns of keys and values (`Tags`, `SkuPriceDetails`) are such texts. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> {
  const value = parsed(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/**
 * Returns the objects of a JSON array; undefined if the text is none. Programs in Python write the same with single quotes and `None`, which
 * is read, too.
 */
export function jsonObjects(text: string): readonly Readonly<Record<string, unknown>>[] | undefined {
  if (text === "" || text === "[]") return [];
  const value = parsed(text) ?? parsed(text.replaceAll("'", '"').replaceAll(/:\s*None\b/g, ": null"));
  if (value === undefined) return undefined;
  const list = Array.isArray(value) ? value : [value];
  return list.every((each) => typeof each === "object" && each !== null)
    ? (list as Record<string, unknown>[])
    : undefined;
}

/** Returns the text of the first of these keys that an object has. Case and separators of keys do not count, nor does a leading `x_`. */
export function textOf(object: Readonly<Record<string, unknown>>, ...keys: readonly string[]): string {
  for (const key of keys) {
    for (const [name, value] of Object.entries(object)) {
      if (plainKey(name) !== plainKey(key)) continue;
      if (typeof value === "string" && value !== "") return value;
      if (typeof value === "number" || typeof value === "boolean") return String(value);
    }
  }
  return "";
}

function plainKey(key: string): string {
  return key
    .toLowerCase()
    .replace(/^x_/, "")
    .replaceAll(/[^a-z0-9]/g, "");
}

function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    // Numbers stay texts, because a double can have fewer digits than the amount of a credit.
    return JSON.parse(text.replaceAll(/("amount"\s*:\s*)(-?[\d.]+(?:[eE][+-]?\d+)?)/g, '$1"$2"'));
  } catch {
    return undefined;
  }
}
