/** The bytes of a column's values in ClickHouse's Native format, by the column's type. */
const fixedWidths: Readonly<Record<string, number>> = {
  Nothing: 1,
  Bool: 1,
  UInt8: 1,
  Int8: 1,
  Enum8: 1,
  UInt16: 2,
  Int16: 2,
  BFloat16: 2,
  Date: 2,
  Enum16: 2,
  UInt32: 4,
  Int32: 4,
  Float32: 4,
  Date32: 4,
  DateTime: 4,
  Time: 4,
  IPv4: 4,
  UInt64: 8,
  Int64: 8,
  Float64: 8,
  DateTime64: 8,
  Time64: 8,
  UInt128: 16,
  Int128: 16,
  IPv6: 16,
  UUID: 16,
  UInt256: 32,
  Int256: 32,
};

/** A parsed type: `Map(String, Array(UInt8))` has the name `Map` and two arguments. */
interface WrittenType {
  readonly name: string;
  readonly arguments: readonly string[];
}

/** Returns the position after a column of `rows` values that begins at `at`. Throws a `RangeError` for a type without a known length. */
export function skipColumn(type: string, bytes: Buffer, at: number, rows: number): number {
  if (rows === 0) return at;
  // Each dictionary in the type puts the version of its keys before all values (SerializationLowCardinality.cpp).
  const dictionaries = type.split("LowCardinality(").length - 1;
  return skipValues(type, bytes, at + dictionaries * 8, rows);
}

function skipValues(type: string, bytes: Buffer, at: number, rows: number): number {
  const { name, arguments: inner } = parseType(type);
  const first = inner[0] ?? "";
  const width = fixedWidths[name] ?? (name.startsWith("Interval") ? 8 : undefined);
  if (width !== undefined) return at + width * rows;
  switch (name) {
    case "String":
      return skipStrings(bytes, at, rows);
    case "FixedString":
      return at + Number(first) * rows;
    case "Decimal":
      return at + decimalWidth(Number(first)) * rows;
    case "Nullable":
      return skipValues(first, bytes, at + rows, rows);
    case "Array":
      return skipArray([first], bytes, at, rows);
    case "Map":
    case "Nested":
      return skipArray(name === "Map" ? inner : inner.map(withoutName), bytes, at, rows);
    case "Tuple":
      return inner.map(withoutName).reduce((position, item) => skipValues(item, bytes, position, rows), at);
    case "LowCardinality":
      return rows === 0 ? at : skipDictionary(first, bytes, at);
    case "SimpleAggregateFunction":
      return skipValues(inner[1] ?? "", bytes, at, rows);
    default:
      throw new RangeError(`the length of a column of the type ${type} is not known`);
  }
}

/** Reads a varint. Returns its value and the position after it. */
export function readVarint(bytes: Buffer, from: number): readonly [number, number] {
  let value = 0;
  let factor = 1;
  let at = from;
  for (;;) {
    const byte = bytes.readUInt8(at);
    at += 1;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return [value, at];
    factor *= 0x80;
  }
}

function skipStrings(bytes: Buffer, from: number, rows: number): number {
  let at = from;
  for (let row = 0; row < rows; row += 1) {
    const [length, start] = readVarint(bytes, at);
    at = start + length;
  }
  return at;
}

/** Skips an array: first the offsets, the last of which counts the items, then the items, with one column for each part. */
function skipArray(items: readonly string[], bytes: Buffer, at: number, rows: number): number {
  const values = at + rows * 8;
  const count = rows === 0 ? 0 : Number(bytes.readBigUInt64LE(values - 8));
  return items.reduce((position, item) => skipValues(item, bytes, position, count), values);
}

const indexWidths = [1, 2, 4, 8];

/** Skips a dictionary: flags with the width of the indexes, the keys without their `Nullable`, and an index for each row. */
function skipDictionary(type: string, bytes: Buffer, at: number): number {
  const keyType = /^Nullable\((.*)\)$/s.exec(type)?.[1] ?? type;
  const flags = bytes.readUInt32LE(at);
  const keys = Number(bytes.readBigUInt64LE(at + 8));
  const afterKeys = skipValues(keyType, bytes, at + 16, keys);
  const rows = Number(bytes.readBigUInt64LE(afterKeys));
  return afterKeys + 8 + rows * (indexWidths[flags & 0xff] ?? 8);
}

function decimalWidth(precision: number): number {
  if (precision <= 9) return 4;
  if (precision <= 18) return 8;
  return precision <= 38 ? 16 : 32;
}

function parseType(type: string): WrittenType {
  const open = type.indexOf("(");
  if (open < 0) return { name: type, arguments: [] };
  const items: string[] = [];
  let depth = 0;
  let quote = "";
  let start = open + 1;
  for (let at = open; at < type.length; at += 1) {
    const character = type.charAt(at);
    if (quote !== "") {
      if (character === "\\") at += 1;
      else if (character === quote) quote = "";
    } else if (character === "'" || character === "`") quote = character;
    else if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    if (quote === "" && (depth === 0 || (depth === 1 && character === ","))) {
      items.push(type.slice(start, at).trim());
      start = at + 1;
    }
  }
  return { name: type.slice(0, open), arguments: items };
}

/** Returns the type of a tuple's item without its optional name: ``a UInt8``, `` `b c` Array(UInt8) ``. */
function withoutName(item: string): string {
  if (item.startsWith("`")) return item.slice(item.indexOf("` ", 1) + 2);
  return /^[A-Za-z_][A-Za-z0-9_]* (.+)$/s.exec(item)?.[1] ?? item;
}
