import { amountOf, type Amount, type Quantity } from "../../../domain/exact/units.ts";
import { exactDecimal, parseDecimal, rational, type Rational } from "../../../domain/exact/rational.ts";
import type { NativeColumn } from "../native/block.ts";
import { arrayColumn } from "../native/arrays.ts";
import { decimalColumn, numberColumn, wideColumn } from "../native/numbers.ts";
import { mapColumn, plainTextColumn, textColumn } from "../native/texts.ts";
import { DAY_MILLIS } from "../../../domain/time.ts";

/** A column of a block that values are put into one by one. */
export interface ValueColumn<Value> extends NativeColumn {
  put(row: number, value: Value): void;
}

/** A column type: its name in ClickHouse, and how its values are written, selected, parsed and hashed. */
export interface ColumnType<Value> {
  /** The ClickHouse type, without codecs. */
  readonly sql: string;
  /** The type of the column in exports. */
  readonly kind: "text" | "number" | "time" | "labels";
  /** Returns an empty column of a block. */
  block(name: string): ValueColumn<Value>;
  /** Returns an expression over the column that JSON carries without loss. */
  select(name: string): string;
  /** Parses a field that {@link select} returned; undefined for NULL. */
  parse(field: unknown): Value | undefined;
  /** Returns an expression for the canonical text of a value. Closings hash this text, so it never changes. */
  canonical(name: string): string;
}

const asText = (name: string): string => `ifNull(toString(${name}), '\\x00')`;

function textType(sql: string): ColumnType<string> {
  return {
    sql,
    kind: "text",
    block: textColumn,
    select: (name) => name,
    parse: (field) => field as string,
    canonical: asText,
  };
}

/** A text with few different values. */
export const text = textType("LowCardinality(String)");

/** A text with many different values. */
export const manyTexts = textType("String");

/** Returns a column that converts each value before it writes it. */
function converted<Given, Sent>(column: ValueColumn<Sent>, convert: (value: Given) => Sent): ValueColumn<Given> {
  const { name, type, grow, take } = column;
  return {
    name,
    type,
    grow,
    take,
    get isWritten() {
      return column.isWritten;
    },
    put: (row, value) => column.put(row, convert(value)),
  };
}

/** A UUID, as text. */
export const uuid: ColumnType<string> = {
  sql: "UUID",
  kind: "text",
  block(name) {
    let last = { text: "", number: 0n };
    return converted(decimalColumn(name, "UUID"), (text) => {
      // All rows of an insert have the same run.
      if (text !== last.text) last = { text, number: uuidNumber(text) };
      return last.number;
    });
  },
  select: (name) => `toString(${name})`,
  parse: (field) => field as string,
  canonical: asText,
};

/** Returns the number whose bytes ClickHouse stores for a UUID: its two halves, with the first half in the lower bytes. */
function uuidNumber(value: string): bigint {
  const digits = value.replaceAll("-", "");
  return (BigInt(`0x${digits.slice(16)}`) << 64n) + BigInt(`0x${digits.slice(0, 16)}`);
}

/** A moment in milliseconds since the epoch. */
export const moment: ColumnType<number> = {
  sql: "DateTime64(3, 'UTC')",
  kind: "time",
  block: (name) => numberColumn(name, "DateTime64(3, 'UTC')", 8),
  select: (name) => `toFloat64(toUnixTimestamp64Milli(${name}))`,
  parse: (field) => field as number,
  canonical: (name) => `toString(toUnixTimestamp64Milli(${name}))`,
};

/** A moment in milliseconds since the epoch, or none. */
export const nullableMoment: ColumnType<number> = {
  ...moment,
  sql: "Nullable(DateTime64(3, 'UTC'))",
  block: (name) => numberColumn(name, "Nullable(DateTime64(3, 'UTC'))", 8),
  parse: (field) => (field as number | null) ?? undefined,
  canonical: asText,
};

/** A UTC day, as its start in milliseconds since the epoch. */
export const day: ColumnType<number> = {
  sql: "Date",
  kind: "text",
  block(name) {
    return converted(numberColumn(name, "Date", 2), (value) => value / DAY_MILLIS);
  },
  select: (name) => name,
  parse: (field) => Date.parse(field as string),
  canonical: asText,
};

function wholeType(sql: string, bytes: 1 | 2 | 4 | 8, most: number): ColumnType<number> {
  return {
    sql,
    kind: "number",
    block: (name) =>
      converted(numberColumn(name, sql, bytes), (value) => {
        if (!(value >= 0 && value <= most)) throw new RangeError(`${value} does not fit ${name}, which is ${sql}`);
        return value;
      }),
    select: (name) => (bytes === 8 ? `toFloat64(${name})` : name),
    parse: (field) => field as number,
    canonical: asText,
  };
}

/** Whole numbers from 0 on. A number that does not fit the type throws a `RangeError`. */
export const uint16 = wholeType("UInt16", 2, 2 ** 16 - 1);
export const uint32 = wholeType("UInt32", 4, 2 ** 32 - 1);
export const uint64 = wholeType("UInt64", 8, Number.MAX_SAFE_INTEGER);

/** A whole number from 0 on whose sums may exceed the safe integers. */
export const wideUint64: ColumnType<bigint> = {
  sql: "UInt64",
  kind: "number",
  block: (name) => wideColumn(name, "UInt64"),
  select: (name) => `toString(${name})`,
  parse: (field) => BigInt(field as string),
  canonical: asText,
};

/** A whole number from 0 on, or none. */
export const nullableUint64: ColumnType<number> = {
  ...uint64,
  sql: "Nullable(UInt64)",
  block: (name) => numberColumn(name, "Nullable(UInt64)", 8),
  parse: (field) => (field as number | null) ?? undefined,
};

/** A safe integer. */
export const int64: ColumnType<number> = { ...uint64, sql: "Int64", block: (name) => numberColumn(name, "Int64", 8) };

/** A boolean. */
export const bool: ColumnType<boolean> = {
  sql: "Bool",
  kind: "text",
  block: (name) => converted(numberColumn(name, "Bool", 1), Number),
  select: (name) => name,
  parse: Boolean,
  canonical: asText,
};

/** A text that is long, or whose values are all different. */
export const longText: ColumnType<string> = { ...textType("String"), block: plainTextColumn };

/** Returns the type of an array of elements. */
export function arrayOf<Value>(element: ColumnType<Value>): ColumnType<readonly Value[]> {
  return {
    sql: `Array(${element.sql})`,
    kind: "text",
    block: (name) => arrayColumn(element.block(name)),
    select: (name) => (element.select(name) === name ? name : `arrayMap(each -> ${element.select("each")}, ${name})`),
    parse: (field) => (field as readonly unknown[]).map((each) => element.parse(each)!),
    canonical: asText,
  };
}

/** Counts by name. */
export const counts: ColumnType<Readonly<Record<string, number>>> = {
  sql: "Map(LowCardinality(String), UInt32)",
  kind: "labels",
  block(name) {
    const maps = mapColumn<number>(name, "UInt32", (out, value) => out.uint32(value));
    return converted(maps, Object.entries<number>);
  },
  select: (name) => name,
  parse: (field) => field as Readonly<Record<string, number>>,
  canonical: asText,
};

/** A 16-bit whole number from 0 on, or none. */
export const nullableUInt16: ColumnType<number> = {
  sql: "Nullable(UInt16)",
  kind: "number",
  block: (name) => numberColumn(name, "Nullable(UInt16)", 2),
  select: (name) => name,
  parse: (field) => (field as number | null) ?? undefined,
  canonical: asText,
};

function amountType(sql: string): ColumnType<Amount<Quantity>> {
  return {
    sql,
    kind: "number",
    block: (name) => decimalColumn(name, sql),
    select: (name) => `toString(${name})`,
    parse: (field) => (field === null ? undefined : amountOf(field as string)),
    canonical: asText,
  };
}

/** An exact amount of money, GPU-hours or grams, in last units (10^-9). */
export const amount = amountType("Decimal(38, 9)");

/** An exact amount, or none if there is no price or measurement. */
export const nullableAmount = amountType("Nullable(Decimal(38, 9))");

/** An exact whole number, or none. */
export const nullableInteger: ColumnType<bigint> = {
  sql: "Nullable(Decimal(38, 0))",
  kind: "number",
  block: (name) => decimalColumn(name, "Nullable(Decimal(38, 0))"),
  select: (name) => `toString(${name})`,
  parse: (field) => (field === null ? undefined : BigInt(field as string)),
  canonical: asText,
};

/** An exact fraction, stored as the text `num/den`. */
export const fraction: ColumnType<Rational> = {
  sql: "String",
  kind: "text",
  block(name) {
    return converted(textColumn(name), ({ num, den }) => `${num}/${den}`);
  },
  select: (name) => name,
  parse(field) {
    const [num, den] = (field as string).split("/") as [string, string];
    return rational(BigInt(num), BigInt(den));
  },
  canonical: asText,
};

/** The most digits after the point of a {@link decimal}. */
export const MOST_DECIMALS = 38;

/**
 * An exact decimal of any size, stored as its text; undefined is an empty text. A value with more than {@link MOST_DECIMALS} digits after
 * the point throws a `RangeError`.
 */
export const decimal: ColumnType<Rational | undefined> = {
  ...textType("String"),
  block: (name) =>
    converted(plainTextColumn(name), (value) => {
      const written = value === undefined ? "" : exactDecimal(value, MOST_DECIMALS);
      if (written === undefined) throw new RangeError(`${name} has more than ${MOST_DECIMALS} digits after the point`);
      return written;
    }),
  parse(field) {
    const parsed = parseDecimal(field as string);
    return "value" in parsed ? parsed.value : undefined;
  },
};

/** Labels by name. */
export const labels: ColumnType<Readonly<Record<string, string>>> = {
  sql: "Map(LowCardinality(String), String)",
  kind: "labels",
  block(name) {
    let last: Readonly<Record<string, string>> = {};
    let entries: readonly (readonly [string, string])[] = [];
    const maps = mapColumn<string>(name, "String", (out, value) => out.string(value));
    return converted(maps, (value) => {
      // Lines of one holder are adjacent and share its labels object.
      if (value !== last) [last, entries] = [value, Object.entries(value)];
      return entries;
    });
  },
  select: (name) => name,
  parse: (field) => field as Readonly<Record<string, string>>,
  canonical: (name) =>
    `arrayStringConcat(arraySort(arrayMap((k, v) -> concat(k, '=', v), mapKeys(${name}), mapValues(${name}))), '\\x1e')`,
};
