/**
 * A reader of ClickHouse's RowBinary values, one after the other, little-endian, in the order of the query's columns. The types are not
 * checked. `LowCardinality(T)` is read as `T`, a tuple element by element. The functions can be used without the object.
 * https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
export interface RowBinaryReader {
  readonly uint8: () => number;
  readonly uint16: () => number;
  readonly uint32: () => number;
  readonly uint64: () => bigint;
  readonly bool: () => boolean;
  readonly string: () => string;
  /** Reads `DateTime64(3)`: milliseconds since the epoch. */
  readonly dateTime64Millis: () => number;
  /** Reads `Array(T)`, with `read` for each element. */
  readonly array: <Value>(read: () => Value) => Value[];
}

/**
 * Yields the rows of a response in RowBinary, in portions as the bytes arrive. `read` builds a row from its columns. A row that is
 * incomplete is read again when the next bytes have come, so `read` must not keep state. Throws if the last row is incomplete.
 */
export async function* rowsOf<Row>(
  parts: AsyncIterable<Uint8Array>,
  read: (reader: RowBinaryReader) => Row,
): AsyncGenerator<readonly Row[]> {
  let bytes: Buffer = Buffer.alloc(0);
  let at = 0;

  /** Skips `length` bytes. Returns their position. */
  function passed(length: number): number {
    const from = at;
    if (from + length > bytes.length) throw INCOMPLETE;
    at = from + length;
    return from;
  }
  function varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = bytes[passed(1)]!;
      value += (byte % 0x80) * scale;
      if (byte < 0x80) return value;
    }
  }
  const reader: RowBinaryReader = {
    uint8: () => bytes[passed(1)]!,
    uint16: () => bytes.readUInt16LE(passed(2)),
    uint32: () => bytes.readUInt32LE(passed(4)),
    uint64: () => bytes.readBigUInt64LE(passed(8)),
    bool: () => bytes[passed(1)] !== 0,
    string() {
      const length = varint();
      const from = passed(length);
      return bytes.toString("utf8", from, from + length);
    },
    dateTime64Millis() {
      const from = passed(8);
      return bytes.readInt32LE(from + 4) * 0x1_0000_0000 + bytes.readUInt32LE(from);
    },
    array<Value>(element: () => Value) {
      const values: Value[] = [];
      for (let left = varint(); left > 0; left -= 1) values.push(element());
      return values;
    },
  };

  for await (const part of parts) {
    const rest = bytes.subarray(at);
    bytes = rest.length === 0 ? Buffer.from(part.buffer, part.byteOffset, part.length) : Buffer.concat([rest, part]);
    at = 0;
    const rows: Row[] = [];
    for (let begun = 0; begun < bytes.length; begun = at) {
      try {
        rows.push(read(reader));
      } catch (error) {
        if (error !== INCOMPLETE) throw error;
        at = begun;
        break;
      }
    }
    if (rows.length > 0) yield rows;
  }
  if (at < bytes.length) throw new Error("the answer ends within a row");
}

/** Thrown if a row continues in bytes that have not arrived yet. */
const INCOMPLETE = new Error("the row is not complete");
