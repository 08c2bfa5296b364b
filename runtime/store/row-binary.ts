/**
 * Rows in ClickHouse's RowBinary: values one after the other, without names or separators, little-endian.
 * https://clickhouse.com/docs/interfaces/formats/RowBinary
 */

/** The largest number that a varint of this writer holds; ClickHouse's lengths stay far below. */
const maxVarint = Number.MAX_SAFE_INTEGER;

/** Texts of up to so many UTF-16 units are written unit by unit. */
const LONGEST_BY_UNIT = 24;

/**
 * Writes rows into one growing buffer. The caller writes the columns in the order of the insert; nothing checks that.
 * `LowCardinality(T)` is written as `T`. The functions may be passed on by themselves. A number that does not fit its type throws a `RangeError`.
 */
export interface RowBinaryWriter {
  /** Bytes written since the last `take`. */
  readonly length: number;
  readonly uint8: (value: number) => void;
  readonly uint16: (value: number) => void;
  readonly uint32: (value: number) => void;
  readonly uint64: (value: number | bigint) => void;
  readonly int8: (value: number) => void;
  readonly int16: (value: number) => void;
  readonly int32: (value: number) => void;
  readonly int64: (value: number | bigint) => void;
  readonly float32: (value: number) => void;
  readonly float64: (value: number) => void;
  readonly bool: (value: boolean) => void;
  /** A length, of 7 bits a byte. */
  readonly varint: (value: number) => void;
  readonly string: (value: string) => void;
  readonly bytes: (value: Uint8Array) => void;
  /** Columns that were written before, as `take` gave them. */
  readonly raw: (columns: Uint8Array) => void;
  /** A function that writes columns by `write`, and copies what it wrote last where it is given the same object again. */
  readonly repeating: <Value>(write: (value: Value) => void) => (value: Value) => void;
  /** A UUID in its usual text form. */
  readonly uuid: (value: string) => void;
  /** `DateTime64(3)`: milliseconds since the epoch. */
  readonly dateTime64Millis: (value: number) => void;
  /** `DateTime`: whole seconds since the epoch. */
  readonly dateTimeSeconds: (value: number) => void;
  /** `Decimal64(scale)` as the integer value × 10^scale. */
  readonly decimal64: (scaled: bigint) => void;
  /** `Decimal128(scale)` as the integer value × 10^scale. */
  readonly decimal128: (scaled: bigint) => void;
  /** `Nullable(T)`: `write` is called where there is a value. */
  readonly nullable: <Value>(value: Value | null | undefined, write: (value: Value) => void) => void;
  /** `Array(T)`. */
  readonly array: <Value>(values: readonly Value[], write: (value: Value, index: number) => void) => void;
  /** `Map(String, T)`. */
  readonly map: <Value>(entries: readonly (readonly [string, Value])[], write: (value: Value) => void) => void;
  /** The rows written so far; the writer starts anew, and the bytes belong to the caller. */
  readonly take: () => Uint8Array<ArrayBuffer>;
}

/** Makes a writer that begins with room for `initialBytes` and doubles when it is full. */
export function createRowBinaryWriter(initialBytes = 64 * 1024): RowBinaryWriter {
  let buffer = Buffer.allocUnsafeSlow(Math.max(16, initialBytes));
  let at = 0;
  let taken = 0;

  const room = (bytes: number): void => {
    if (at + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, at + bytes));
    buffer.copy(larger, 0, 0, at);
    buffer = larger;
  };
  const varint = (value: number): void => {
    if (!Number.isInteger(value) || value < 0 || value > maxVarint) throw new RangeError(`${value} is no length`);
    room(8);
    let rest = value;
    while (rest >= 0x80) {
      buffer[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    buffer[at++] = rest;
  };

  /** Writes a text with its length where all of it is ASCII; there is room. */
  const byUnit = (value: string): boolean => {
    const { length } = value;
    for (let index = 0; index < length; index++) {
      const unit = value.charCodeAt(index);
      if (unit >= 0x80) return false;
      buffer[at + 1 + index] = unit;
    }
    buffer[at] = length;
    at += 1 + length;
    return true;
  };

  const writer: RowBinaryWriter = {
    get length() {
      return at;
    },
    uint8(value) {
      room(1);
      at = buffer.writeUInt8(value, at);
    },
    uint16(value) {
      room(2);
      at = buffer.writeUInt16LE(value, at);
    },
    uint32(value) {
      room(4);
      at = buffer.writeUInt32LE(value, at);
    },
    uint64(value) {
      room(8);
      at = buffer.writeBigUInt64LE(BigInt(value), at);
    },
    int8(value) {
      room(1);
      at = buffer.writeInt8(value, at);
    },
    int16(value) {
      room(2);
      at = buffer.writeInt16LE(value, at);
    },
    int32(value) {
      room(4);
      at = buffer.writeInt32LE(value, at);
    },
    int64(value) {
      room(8);
      if (typeof value === "bigint") {
        at = buffer.writeBigInt64LE(value, at);
        return;
      }
      // Two halves are several times as fast as a BigInt, and exact for every safe integer.
      if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no safe integer`);
      const high = Math.floor(value / 0x1_0000_0000);
      at = buffer.writeUInt32LE(value - high * 0x1_0000_0000, at);
      at = buffer.writeInt32LE(high, at);
    },
    float32(value) {
      room(4);
      at = buffer.writeFloatLE(value, at);
    },
    float64(value) {
      room(8);
      at = buffer.writeDoubleLE(value, at);
    },
    bool(value) {
      room(1);
      buffer[at++] = value ? 1 : 0;
    },
    varint,
    string(value) {
      // A UTF-16 unit takes three bytes of UTF-8 at most. Short texts are written first and their length is put before.
      const most = value.length * 3;
      if (most < 0x80) {
        room(most + 1);
        // The shortest are done before a call into the engine would begin; ASCII is as long in UTF-8.
        if (value.length <= LONGEST_BY_UNIT && byUnit(value)) return;
        const written = buffer.write(value, at + 1, "utf8");
        buffer[at] = written;
        at += written + 1;
        return;
      }
      const length = Buffer.byteLength(value, "utf8");
      varint(length);
      room(length);
      at += buffer.write(value, at, "utf8");
    },
    bytes(value) {
      varint(value.length);
      room(value.length);
      buffer.set(value, at);
      at += value.length;
    },
    raw(columns) {
      const { length } = columns;
      room(length);
      if (length > LONGEST_BY_UNIT) buffer.set(columns, at);
      else for (let index = 0; index < length; index++) buffer[at + index] = columns[index]!;
      at += length;
    },
    repeating(write) {
      let last: { readonly value: unknown; readonly from: number; readonly until: number } | undefined;
      let lastTaken = taken;
      return (value) => {
        if (last === undefined || last.value !== value || lastTaken !== taken) {
          const from = at;
          write(value);
          [last, lastTaken] = [{ value, from, until: at }, taken];
          return;
        }
        room(last.until - last.from);
        buffer.copyWithin(at, last.from, last.until);
        at += last.until - last.from;
      };
    },
    uuid(value) {
      const digits = value.replaceAll("-", "");
      if (!/^[0-9a-f]{32}$/i.test(digits)) throw new RangeError(`${value} is no UUID`);
      writer.uint64(BigInt(`0x${digits.slice(0, 16)}`));
      writer.uint64(BigInt(`0x${digits.slice(16)}`));
    },
    dateTime64Millis(value) {
      writer.int64(value);
    },
    dateTimeSeconds(value) {
      writer.uint32(value);
    },
    decimal64(scaled) {
      writer.int64(scaled);
    },
    decimal128(scaled) {
      const value = Number(scaled);
      if (!Number.isSafeInteger(value)) {
        writer.uint64(BigInt.asUintN(64, scaled));
        writer.int64(scaled >> 64n);
        return;
      }
      writer.int64(value);
      room(8);
      const sign = value < 0 ? 0xffffffff : 0;
      at = buffer.writeUInt32LE(sign, at);
      at = buffer.writeUInt32LE(sign, at);
    },
    nullable(value, write) {
      const missing = value === null || value === undefined;
      writer.bool(missing);
      if (!missing) write(value);
    },
    array(values, write) {
      varint(values.length);
      values.forEach((value, index) => write(value, index));
    },
    map(entries, write) {
      varint(entries.length);
      for (const [key, value] of entries) {
        writer.string(key);
        write(value);
      }
    },
    take() {
      const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, at);
      buffer = Buffer.allocUnsafeSlow(Math.max(16, Math.min(buffer.length, at * 2)));
      at = 0;
      taken += 1;
      return bytes;
    },
  };
  return writer;
}
