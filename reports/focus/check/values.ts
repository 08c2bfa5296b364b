import { isObject } from "../../../domain/object.ts";

/** 1 in the unit of {@link decimalIn}. */
export const ONE = 10n ** 18n;

/** Returns a decimal in 10⁻¹⁸; undefined if the text is not a decimal or has more digits. Exponents and separators are refused. */
export function decimalIn(text: string | null | undefined): bigint | undefined {
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d{1,18}))?$/.exec(text ?? "") ?? [];
  return whole === undefined ? undefined : BigInt(`${sign}${whole}${fraction.padEnd(18, "0")}`);
}

/** Returns true if a text is a time in the form of FOCUS: `2026-03-01T00:00:00Z`. */
export function isMoment(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text)) return false;
  const millis = Date.parse(text);
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(text.slice(0, -1));
}

/** Returns the JSON value of a text; undefined if the text is not JSON. */
export function jsonIn(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? "") as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the keys and values of a JSON object of scalars; undefined if the text is not one. */
export function pairsIn(text: string | null | undefined): readonly (readonly [string, unknown])[] | undefined {
  const value = jsonIn(text);
  if (!isObject(value)) return undefined;
  const pairs = Object.entries(value);
  return pairs.every(([, each]) => each === null || typeof each !== "object") ? pairs : undefined;
}
