/** The largest number for a varint of this writer. ClickHouse's lengths are far below it. */
const maxVarint = Number.MAX_SAFE_INTEGER;

/** Texts of at most this length in UTF-16 units are written unit by unit. */
const LONGEST_BY_UNIT = 24;

/**
 * A writer of values in ClickHouse's binary formats into one growing buffer, little-endian. A number that does not fit throws a
 * `RangeError`.
 */
export interface ByteWriter {
  readonly uint32: (value: number) => void;
  readonly uint64: (value: number | bigint) => void;
  readonly float64: (value: number) => void;
  /** Writes a length, with 7 bits per byte. */
  readonly varint: (value: number) => void;
  /** Writes a text after its length. */
  readonly string: (value: string) => void;
  /** Writes bytes unchanged. */
  readonly raw: (bytes: Uint8Array) => void;
  /** Returns the bytes written so far, which belong to the caller, and resets the writer. */
  readonly take: () => Uint8Array<ArrayBuffer>;
}

/** Creates a writer that begins with room for `initialBytes` and doubles when it is full. */
export function createByteWriter(initialBytes = 64 * 1024): ByteWriter {
  let buffer = Buffer.allocUnsafeSlow(Math.max(16, initialBytes));
  let at = 0;

  const room = (bytes: number): void => {
    if (at + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, at + bytes));
    buffer.copy(larger, 0, 0, at);
    buffer = larger;
  };
  const varint = (value: number): void => {
    if (!Number.isInteger(value) || value < 0 || value > maxVarint) throw new RangeError(`${value} is not a length`);
    room(8);
    let rest = value;
    while (rest >= 0x80) {
      buffer[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    buffer[at++] = rest;
  };

  /** Writes a text with its length if all of it is ASCII; returns false otherwise. The caller has made room. */
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

  return {
    uint32(value) {
      room(4);
      at = buffer.writeUInt32LE(value, at);
    },
    uint64(value) {
      room(8);
      at = buffer.writeBigUInt64LE(BigInt(value), at);
    },
    float64(value) {
      room(8);
      at = buffer.writeDoubleLE(value, at);
    },
    varint,
    string(value) {
      // A UTF-16 unit takes at most three bytes of UTF-8. Short texts are written first, and their length is put in front.
      const most = value.length * 3;
      if (most < 0x80) {
        room(most + 1);
        // The shortest texts are written faster than a call into the engine starts. ASCII has the same length in UTF-8.
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
    raw(columns) {
      const { length } = columns;
      room(length);
      if (length > LONGEST_BY_UNIT) buffer.set(columns, at);
      else for (let index = 0; index < length; index++) buffer[at + index] = columns[index]!;
      at += length;
    },
    take() {
      const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, at);
      buffer = Buffer.allocUnsafeSlow(Math.max(16, Math.min(buffer.length, at * 2)));
      at = 0;
      return bytes;
    },
  };
}
