import { compare, DECIMAL_FORM, parseDecimal, rational, ZERO, type Rational } from "../exact/rational.ts";
import { isObject } from "../object.ts";
import { instantOf, INSTANT_FORM } from "./instant.ts";
import { problemAt, type Path, type PriceProblem } from "./problem.ts";

/** A mapping that is being read: its path, its values, and the list that collects problems. */
export interface Fields {
  readonly path: Path;
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: PriceProblem[];
}

/** The form of money, for error messages. */
export const MONEY_FORM = `a decimal in quotes, such as "3.60"`;

const REQUIRED = "required: ";

/** Adds a problem of a key of a mapping. */
export function report(fields: Fields, key: string | undefined, allowed: string): void {
  const path = key === undefined ? fields.path : [...fields.path, key];
  const value = key === undefined ? fields.values : fields.values[key];
  fields.problems.push(problemAt(path, value, allowed));
}

/**
 * Opens a mapping with these keys and no others. A null value counts as absent. If the value is not a mapping, adds a problem and returns
 * undefined.
 */
export function openFields(
  raw: unknown,
  path: Path,
  known: readonly string[],
  problems: PriceProblem[],
): Fields | undefined {
  const entries = entriesOf(raw);
  if (entries === undefined) {
    problems.push(problemAt(path, raw, `a mapping with the keys ${known.join(", ")}`));
    return undefined;
  }
  for (const [key, value] of entries) {
    if (!known.includes(key))
      problems.push(problemAt([...path, key], value, `a known key; known are ${known.join(", ")}`));
  }
  const kept = entries.filter(([key, value]) => known.includes(key) && value !== null);
  return { path, values: Object.fromEntries(kept), problems };
}

/** Reads a mapping from texts to texts; empty if the key is missing. */
export function readTexts(fields: Fields, key: string): Readonly<Record<string, string>> {
  const raw = fields.values[key];
  if (raw === undefined) return {};
  const entries = entriesOf(raw);
  if (entries === undefined) report(fields, key, "a mapping of names to values");
  for (const [name, value] of entries ?? []) {
    if (typeof value !== "string")
      fields.problems.push(problemAt([...fields.path, key, name], value, "a text (in quotes)"));
  }
  return Object.fromEntries((entries ?? []).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** Reads a list with `readItem`; empty if the key is missing. */
export function readList<Item>(
  fields: Fields,
  key: string,
  readItem: (raw: unknown, path: Path) => Item | undefined,
): readonly Item[] {
  const raw = fields.values[key];
  if (raw === undefined) return [];
  if (!Array.isArray(raw)) {
    report(fields, key, "a list");
    return [];
  }
  return raw.flatMap((item: unknown, index) => readItem(item, [...fields.path, key, index]) ?? []);
}

/** Reads a non-empty text; undefined if the key is missing or wrong. */
export function readText(fields: Fields, key: string): string | undefined {
  const raw = fields.values[key];
  if (raw === undefined || (typeof raw === "string" && raw !== "")) return raw;
  report(fields, key, typeof raw === "string" ? "a text with something in it" : "a text (in quotes)");
  return undefined;
}

/** Reads one of the words; undefined if the key is missing or wrong. */
export function readWord<Word extends string>(fields: Fields, key: string, words: readonly Word[]): Word | undefined {
  const raw = fields.values[key];
  if (raw === undefined) return undefined;
  const word = words.find((each) => each === raw);
  if (word === undefined) report(fields, key, `one of ${words.join(", ")}`);
  return word;
}

/** Reads a date or a time in UTC as milliseconds since the epoch; undefined if the key is missing or wrong. */
export function readInstant(fields: Fields, key: string): number | undefined {
  const raw = fields.values[key];
  if (raw === undefined) return undefined;
  const millis = typeof raw === "string" ? instantOf(raw) : undefined;
  if (millis === undefined) report(fields, key, INSTANT_FORM);
  return millis;
}

/** Reads an integer from `least` to `most`; undefined if the key is missing or wrong. */
export function readInteger(fields: Fields, key: string, least: number, most: number): number | undefined {
  const raw = fields.values[key];
  if (raw === undefined) return undefined;
  if (typeof raw === "number" && Number.isInteger(raw) && least <= raw && raw <= most) return raw;
  report(fields, key, `an integer from ${least} to ${most}`);
  return undefined;
}

/**
 * Reads money: a decimal text that is not negative. A number is refused, even a whole one, because the parser has already made it a
 * floating-point number. Undefined if the key is missing or wrong.
 */
export function readMoney(fields: Fields, key: string): Rational | undefined {
  const raw = fields.values[key];
  if (raw === undefined) return undefined;
  if (typeof raw !== "string") {
    report(fields, key, `${MONEY_FORM}: money never passes through a floating-point number`);
    return undefined;
  }
  return readDecimal(fields, key, ZERO);
}

/** Reads a quantity that is not money: a decimal text or an integer of at least `least`; undefined if the key is missing or wrong. */
export function readQuantity(fields: Fields, key: string, least?: Rational): Rational | undefined {
  const raw = fields.values[key];
  if (raw === undefined) return undefined;
  if (typeof raw === "string") return readDecimal(fields, key, least);
  const value = typeof raw === "number" && Number.isSafeInteger(raw) ? rational(raw) : undefined;
  if (value !== undefined && isAtLeast(value, least)) return value;
  const sentence = least === undefined ? "" : `, ${least.num} or more`;
  report(fields, key, `an integer, or a decimal in quotes, such as "1.4"${sentence}`);
  return undefined;
}

/**
 * Returns the value of a required key; undefined if it is missing or invalid. If the key is missing, adds a problem with the allowed form.
 */
export function required<Value>(
  fields: Fields,
  key: string,
  value: Value | undefined,
  allowed: string,
): Value | undefined {
  if (fields.values[key] === undefined) report(fields, key, REQUIRED + allowed);
  return value;
}

/**
 * The largest decimal of a book. A price times a rate times the GPU-hours of a month stays far below the 29 digits before the point of the
 * store's money columns.
 */
const LARGEST = rational(1_000_000_000_000n);

function readDecimal(fields: Fields, key: string, least: Rational | undefined): Rational | undefined {
  const parsed = parseDecimal(String(fields.values[key]));
  if ("error" in parsed) report(fields, key, DECIMAL_FORM);
  else if (!isAtLeast(parsed.value, least)) report(fields, key, `${least?.num} or more`);
  else if (compare(parsed.value, LARGEST) > 0) report(fields, key, `at most ${LARGEST.num}`);
  else return parsed.value;
  return undefined;
}

function isAtLeast(value: Rational, least: Rational | undefined): boolean {
  return least === undefined || compare(value, least) >= 0;
}

function entriesOf(raw: unknown): readonly [string, unknown][] | undefined {
  return isObject(raw) ? Object.entries(raw) : undefined;
}
