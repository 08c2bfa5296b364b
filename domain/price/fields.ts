import { compare, DECIMAL_FORM, parseDecimal, rational, ZERO, type Rational } from "../exact/rational.ts";
import { instantOf, INSTANT_FORM } from "./instant.ts";
import { problemAt, type Path, type PriceProblem } from "./problem.ts";

/** A mapping that is being read: its known keys, and the list that collects what is wrong with it. */
export interface Fields {
  readonly path: Path;
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: PriceProblem[];
}

/** What money is written as. */
export const MONEY_FORM = `a decimal in quotes, such as "3.60"`;

const REQUIRED = "required: ";

/** Writes down what is wrong with a key of a mapping. */
export function report(fields: Fields, key: string | undefined, allowed: string): void {
  const path = key === undefined ? fields.path : [...fields.path, key];
  const value = key === undefined ? fields.values : fields.values[key];
  fields.problems.push(problemAt(path, value, allowed));
}

/** A mapping with these keys and no others, null like nothing; undefined, and said, where something else stands there. */
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

/** A mapping from texts to texts; empty where the key is missing. */
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

/** A list of what `readItem` makes of each item; empty where the key is missing. */
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

/** A text that is not empty; undefined where the key is missing or wrong. */
export function readText(fields: Fields, key: string): string | undefined {
  const raw = fields.values[key];
  if (raw === undefined || (typeof raw === "string" && raw !== "")) return raw;
  report(fields, key, typeof raw === "string" ? "a text with something in it" : "a text (in quotes)");
  return undefined;
}

/** One of some words; undefined where the key is missing or wrong. */
export function readWord<Word extends string>(fields: Fields, key: string, words: readonly Word[]): Word | undefined {
  const raw = fields.values[key];
  if (raw === undefined) return undefined;
  const word = words.find((each) => each === raw);
  if (word === undefined) report(fields, key, `one of ${words.join(", ")}`);
  return word;
}

/** A date or a time in UTC, as milliseconds since the epoch; undefined where the key is missing or wrong. */
export function readInstant(fields: Fields, key: string): number | undefined {
  const raw = fields.values[key];
  if (raw === undefined) return undefined;
  const millis = typeof raw === "string" ? instantOf(raw) : undefined;
  if (millis === undefined) report(fields, key, INSTANT_FORM);
  return millis;
}

/** An integer from `least` to `most`; undefined where the key is missing or wrong. */
export function readInteger(fields: Fields, key: string, least: number, most: number): number | undefined {
  const raw = fields.values[key];
  if (raw === undefined) return undefined;
  if (typeof raw === "number" && Number.isInteger(raw) && least <= raw && raw <= most) return raw;
  report(fields, key, `an integer from ${least} to ${most}`);
  return undefined;
}

/**
 * Money: a decimal text that is not negative. A number is refused, even a whole one: by the time it is read, it has passed
 * through a floating-point number. Undefined where the key is missing or wrong.
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

/**
 * A quantity that is no money: a decimal text or an integer, not below `least`; undefined where the key is missing or
 * wrong.
 */
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

/** The value of a key that must be there; where it is missing, that is said with what is allowed. */
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
 * No decimal of a book is larger: a price times a rate times the GPU-hours of a month stays far below the 29 digits that the store's
 * columns of money have before the point.
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
  return typeof raw === "object" && raw !== null && !Array.isArray(raw) ? Object.entries(raw) : undefined;
}
