import { amountOf, type Amount, type Quantity } from "../../../domain/exact/units.ts";
import { rational, type Rational } from "../../../domain/exact/rational.ts";
import type { NativeColumn } from "../native/block.ts";
import { arrayColumn } from "../native/arrays.ts";
import { decimalColumn, numberColumn, wideColumn } from "../native/numbers.ts";
import { mapColumn, plainTextColumn, textColumn } from "../native/texts.ts";
import { DAY_MILLIS } from "../../../domain/time.ts";

/** A column of a block that takes one value after another. */
export interface ValueColumn<Value> extends NativeColumn {
  put(row: number, value: Value): void;
}

/** A type of columns: its name in ClickHouse, and how its values are written, selected, read and hashed. */
export interface ColumnType<Value> {
  /** The type that ClickHouse has, without codecs. */
  readonly sql: string;
  /** What exports make of the column. */
  readonly kind: "text" | "number" | "time" | "labels";
  /** An empty column of a block. */
  block(name: string): ValueColumn<Value>;
  /** An expression over the column that JSON carries without loss. */
  select(name: string): string;
  /** The value of a field that {@link select} has given; undefined for NULL. */
  parse(field: unknown): Value | undefined;
  /** An expression for the canonical text of a value. Closings hash this text: it never changes. */
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

/** A text of which few are different. */
export const text = textType("LowCardinality(String)");

/** A text of which many are different. */
export const manyTexts = textType("String");

/** A column that takes values of another kind than those that it sends. */
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

/** A UUID as text. */
export const uuid: ColumnType<string> = {
  sql: "UUID",
  kind: "text",
  block(name) {
    let last = { text: "", number: 0n };
    return converted(decimalColumn(name, "UUID"), (text) => {
      // All rows of an insert have one run.
      if (text !== last.text) last = { text, number: uuidNumber(text) };
      return last.number;
    });
  },
  select: (name) => `toString(${name})`,
  parse: (field) => field as string,
  canonical: asText,
};

/** The number whose bytes ClickHouse keeps of a UUID: its two halves, the first one in the lower bytes. */
function uuidNumber(value: string): bigint {
  const digits = value.replaceAll("-", "");
  return (BigInt(`0x${digits.slice(16)}`) << 64n) + BigInt(`0x${digits.slice(0, 16)}`);
}

/** A moment: milliseconds since the epoch. */
export const moment: ColumnType<number> = {
  sql: "DateTime64(3, 'UTC')",
  kind: "time",
  block: (name) => numberColumn(name, "DateTime64(3, 'UTC')", 8),
  select: (name) => `toFloat64(toUnixTimestamp64Milli(${name}))`,
  parse: (field) => field as number,
  canonical: (name) => `toString(toUnixTimestamp64Milli(${name}))`,
};

/** A moment, or none. */
export const nullableMoment: ColumnType<number> = {
  ...moment,
  sql: "Nullable(DateTime64(3, 'UTC'))",
  block: (name) => numberColumn(name, "Nullable(DateTime64(3, 'UTC'))", 8),
  parse: (field) => (field as number | null) ?? undefined,
  canonical: asText,
};

/** A UTC day: its first moment in milliseconds since the epoch. */
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

/** Whole numbers from 0 on. A number that does not fit its type fails with a `RangeError`. */
export const uint16 = wholeType("UInt16", 2, 2 ** 16 - 1);
export const uint32 = wholeType("UInt32", 4, 2 ** 32 - 1);
export const uint64 = wholeType("UInt64", 8, Number.MAX_SAFE_INTEGER);

/** A whole number from 0 on, of which sums may be beyond the safe ones. */
export const wideUint64: ColumnType<bigint> = {
  sql: "UInt64",
  kind: "number",
  block: (name) => wideColumn(name, "UInt64"),
  select: (name) => `toString(${name})`,
  parse: (field) => BigInt(field as string),
  canonical: asText,
};

/** A safe whole number. */
export const int64: ColumnType<number> = { ...uint64, sql: "Int64", block: (name) => numberColumn(name, "Int64", 8) };

/** Yes or no. */
export const bool: ColumnType<boolean> = {
  sql: "Bool",
  kind: "text",
  block: (name) => converted(numberColumn(name, "Bool", 1), Number),
  select: (name) => name,
  parse: Boolean,
  canonical: asText,
};

/** A text that is long, or of which all are different. */
export const longText: ColumnType<string> = { ...textType("String"), block: plainTextColumn };

/** An array with an element for each of something. */
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

/** Counts by their names. */
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

/** A small whole number, or none. */
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

/** An exact amount, or none where nothing prices or measures it. */
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

/** An exact fraction, kept as the text `num/den`. */
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

/** Labels by their names. */
export const labels: ColumnType<Readonly<Record<string, string>>> = {
  sql: "Map(LowCardinality(String), String)",
  kind: "labels",
  block(name) {
    let last: Readonly<Record<string, string>> = {};
    let entries: readonly (readonly [string, string])[] = [];
    const maps = mapColumn<string>(name, "String", (out, value) => out.string(value));
    return converted(maps, (value) => {
      // Lines of one holder follow each other, and share its labels.
      if (value !== last) [last, entries] = [value, Object.entries(value)];
      return entries;
    });
  },
  select: (name) => name,
  parse: (field) => field as Readonly<Record<string, string>>,
  canonical: (name) =>
    `arrayStringConcat(arraySort(arrayMap((k, v) -> concat(k, '=', v), mapKeys(${name}), mapValues(${name}))), '\\x1e')`,
};
