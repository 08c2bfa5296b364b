/** A decimal in 10⁻¹⁸; undefined where a text is none, or is finer. Exponents and separators are refused. */
export function decimalIn(text: string | null | undefined): bigint | undefined {
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d{1,18}))?$/.exec(text ?? "") ?? [];
  return whole === undefined ? undefined : BigInt(`${sign}${whole}${fraction.padEnd(18, "0")}`);
}

/** Whether a text is a moment as FOCUS writes one: `2026-03-01T00:00:00Z`. */
export function isMoment(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text)) return false;
  const millis = Date.parse(text);
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(text.slice(0, -1));
}

/** What a text says as JSON; undefined where it is none. */
export function jsonIn(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? "") as unknown;
  } catch {
    return undefined;
  }
}

/** The keys and values of a JSON object of scalars; undefined where a text is none. */
export function pairsIn(text: string | null | undefined): readonly (readonly [string, unknown])[] | undefined {
  const value = jsonIn(text);
  if (!isObject(value)) return undefined;
  const pairs = Object.entries(value);
  return pairs.every(([, each]) => each === null || typeof each !== "object") ? pairs : undefined;
}

/** Whether a value is an object with keys. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
