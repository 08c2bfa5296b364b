import type { NativeColumn } from "./block.ts";

/**
 * A column of whole numbers with a fixed number of bytes. Decimals are value × 10^scale. Rows of a `Nullable` type that were not written
 * are null.
 */
export interface NumberColumn extends NativeColumn {
  /** Writes a safe integer. The caller ensures that it fits the type. */
  readonly put: (row: number, value: number) => void;
  /** Writes the same value to `rows` rows from `row` on. */
  readonly fill: (row: number, rows: number, value: number) => void;
  /** Writes rows from `row` on, rounded from every `step`th value times the scale. Values that are out of bounds or NaN are not written. */
  readonly setScaled: (row: number, from: ScaledValues) => void;
}

/** Values of rows in an array with other values between them, and their conversion to whole numbers. */
export interface ScaledValues {
  readonly values: Float64Array;
  readonly first: number;
  readonly step: number;
  readonly rows: number;
  readonly scale: number;
  readonly least: number;
  readonly most: number;
}

const HIGH = 2 ** 32;

/** Creates an empty column of numbers. */
export function numberColumn(name: string, type: string, bytes: 1 | 2 | 4 | 8): NumberColumn {
  const make = (length: number): Uint8Array | Uint16Array | Int32Array => {
    if (bytes === 1) return new Uint8Array(length);
    return bytes === 2 ? new Uint16Array(length) : new Int32Array(length * (bytes / 4));
  };
  const isNullable = type.startsWith("Nullable(");
  let values = make(0);
  let nulls = new Uint8Array();
  let isWritten = false;
  function put(row: number, value: number): void {
    isWritten = true;
    nulls[row] = 0;
    // A value stored in an array of integers is taken modulo its width, which is two's complement.
    if (bytes < 8) values[row] = value;
    else {
      values[2 * row] = value;
      values[2 * row + 1] = Math.floor(value / HIGH);
    }
  }
  return {
    name,
    type,
    get isWritten() {
      return isWritten;
    },
    put,
    fill(row, rows, value) {
      for (let index = 0; index < rows; index++) put(row + index, value);
    },
    setScaled(row, { values: given, first, step, rows, scale, least, most }) {
      // The same as `put`, several times as fast, because nothing is looked up for each value.
      const [to, missing, isWide] = [values, nulls, bytes === 8];
      let isAny = false;
      for (let index = 0, at = first; index < rows; index++, at += step) {
        const scaled = Math.round(given[at]! * scale);
        if (!(scaled >= least && scaled <= most)) continue;
        isAny = true;
        missing[row + index] = 0;
        if (isWide) {
          to[2 * (row + index)] = scaled;
          to[2 * (row + index) + 1] = Math.floor(scaled / HIGH);
        } else to[row + index] = scaled;
      }
      isWritten ||= isAny;
    },
    grow(rows) {
      const [grownValues, grownNulls] = [make(rows), new Uint8Array(rows).fill(1)];
      grownValues.set(values);
      grownNulls.set(nulls);
      [values, nulls] = [grownValues, grownNulls];
    },
    take(out, rows) {
      if (isNullable) out.raw(nulls.subarray(0, rows));
      out.raw(new Uint8Array(values.buffer, 0, rows * bytes));
      values.fill(0);
      nulls.fill(1);
      isWritten = false;
    },
  };
}

/** A column of 64-bit whole numbers that may exceed the safe integers, `UInt64` or `Int64`. */
export interface WideColumn extends NativeColumn {
  readonly put: (row: number, value: bigint) => void;
}

/** Creates an empty column of 64-bit whole numbers. */
export function wideColumn(name: string, type: "UInt64" | "Int64"): WideColumn {
  let values = new BigInt64Array();
  let isWritten = false;
  return {
    name,
    type,
    get isWritten() {
      return isWritten;
    },
    put(row, value) {
      isWritten = true;
      values[row] = value;
    },
    grow(rows) {
      const grown = new BigInt64Array(rows);
      grown.set(values);
      values = grown;
    },
    take(out, rows) {
      out.raw(new Uint8Array(values.buffer, 0, 8 * rows));
      values.fill(0n);
      isWritten = false;
    },
  };
}

/** A column of `Decimal(38, s)` or `Nullable(Decimal(38, s))`, as value × 10^s. */
export interface DecimalColumn extends NativeColumn {
  readonly put: (row: number, scaled: bigint) => void;
}

/** Creates an empty column of decimals. */
export function decimalColumn(name: string, type: string): DecimalColumn {
  const isNullable = type.startsWith("Nullable(");
  let words = new Int32Array();
  let nulls = new Uint8Array();
  let isWritten = false;
  return {
    name,
    type,
    get isWritten() {
      return isWritten;
    },
    put(row, scaled) {
      isWritten = true;
      nulls[row] = 0;
      const small = Number(scaled);
      const at = 4 * row;
      if (Number.isSafeInteger(small)) {
        words[at] = small;
        words[at + 1] = Math.floor(small / HIGH);
        words[at + 2] = words[at + 3] = small < 0 ? -1 : 0;
      } else {
        for (let word = 0; word < 4; word++) words[at + word] = Number(BigInt.asIntN(32, scaled >> BigInt(32 * word)));
      }
    },
    grow(rows) {
      const [grownWords, grownNulls] = [new Int32Array(4 * rows), new Uint8Array(rows).fill(1)];
      grownWords.set(words);
      grownNulls.set(nulls);
      [words, nulls] = [grownWords, grownNulls];
    },
    take(out, rows) {
      if (isNullable) out.raw(nulls.subarray(0, rows));
      out.raw(new Uint8Array(words.buffer, 0, 16 * rows));
      words.fill(0);
      nulls.fill(1);
      isWritten = false;
    },
  };
}
