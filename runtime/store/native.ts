/**
 * Blocks in ClickHouse's Native format: whole columns one after the other, each with its name and type, which the store takes at half of
 * what rows cost it. Numbers are little-endian, as they are in memory here.
 * https://clickhouse.com/docs/interfaces/formats/Native, and SerializationLowCardinality.cpp for dictionaries.
 */
import { createRowBinaryWriter, type RowBinaryWriter } from "./row-binary.ts";

/** A column of a block. Rows that nothing was written to have the default of its type. */
export interface NativeColumn {
  readonly name: string;
  readonly type: string;
  /** Whether anything was written to it. */
  readonly isWritten: boolean;
  /** Makes room for so many rows. */
  readonly grow: (rows: number) => void;
  /** Writes so many rows out, and begins anew. */
  readonly take: (out: RowBinaryWriter, rows: number) => void;
}

/** What `take` gives of columns: those to which something was written, and their rows. */
export interface NativeBlock {
  readonly columns: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Takes so many rows of columns as one block; the others are left to the defaults of their table. */
export function takeBlock(out: RowBinaryWriter, columns: readonly NativeColumn[], rows: number): NativeBlock {
  const written = columns.filter(({ isWritten }) => isWritten);
  out.varint(written.length);
  out.varint(rows);
  for (const { name, type, take } of written) {
    out.string(name);
    out.string(type);
    take(out, rows);
  }
  return { columns: written.map(({ name }) => name), bytes: out.take() };
}

/** Whole numbers of so many bytes, decimals among them as value × 10^scale; those of a `Nullable` type are null where nothing was written. */
export interface NumberColumn extends NativeColumn {
  /** Writes a safe integer, which the caller knows to fit the type. */
  readonly set: (row: number, value: number) => void;
  /** Writes the same to so many rows from one on. */
  readonly fill: (row: number, rows: number, value: number) => void;
  /** Writes rows from one on, rounded from every `step`th of some values times the scale; those that are out of bounds, or NaN, are not written. */
  readonly setScaled: (row: number, from: ScaledValues) => void;
}

/** Values of rows in an array that has others between them, and how they become whole numbers. */
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

/** A column of numbers without rows. */
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
    // What is stored in an array of integers is taken modulo its width, which is two's complement.
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
    set: put,
    fill(row, rows, value) {
      for (let index = 0; index < rows; index++) put(row + index, value);
    },
    setScaled(row, { values: given, first, step, rows, scale, least, most }) {
      // The same as `put`, several times as fast: nothing is looked up for each value.
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

/** Texts of some rows as a dictionary: which of them each row has, counted from 1, or 0 for the empty one. */
export interface TextKeys {
  readonly count: number;
  readonly encoded: Uint8Array;
  readonly ofRows: Uint32Array;
}

/** Texts by a dictionary, `LowCardinality(String)`; a table may have it as `String`. */
export interface TextColumn extends NativeColumn {
  /** Writes rows from one on. */
  readonly set: (row: number, keys: TextKeys) => void;
}

/** The dictionary of texts; undefined where all are empty. */
export function textKeys(texts: readonly string[]): TextKeys | undefined {
  const keys = new Map([["", 0]]);
  for (const text of texts) if (!keys.has(text)) keys.set(text, keys.size);
  if (keys.size === 1) return undefined;
  const writer = createRowBinaryWriter(256);
  for (const text of keys.keys()) if (text !== "") writer.string(text);
  const ofRows = Uint32Array.from(texts, (text) => keys.get(text)!);
  return { count: keys.size - 1, encoded: writer.take().slice(), ofRows };
}

/** A column of texts without rows. */
export function textColumn(name: string): TextColumn {
  const keys = createRowBinaryWriter(1024);
  let count = 0;
  let ofRows = new Uint32Array();
  return {
    name,
    type: "LowCardinality(String)",
    get isWritten() {
      return count > 0;
    },
    set(row, added) {
      if (count === 0) {
        keys.string("");
        count = 1;
      }
      // A text of two dictionaries stands twice in theirs: the store finds that out at less than we would.
      keys.raw(added.encoded);
      for (let index = 0; index < added.ofRows.length; index++) {
        const key = added.ofRows[index]!;
        ofRows[row + index] = key === 0 ? 0 : count - 1 + key;
      }
      count += added.count;
    },
    grow(rows) {
      const grown = new Uint32Array(rows);
      grown.set(ofRows);
      ofRows = grown;
    },
    take(out, rows) {
      writeDictionaryVersion(out);
      writeDictionary(out, { count, encoded: keys.take(), ofRows: ofRows.subarray(0, rows) });
      ofRows.fill(0);
      count = 0;
    },
  };
}

/** Maps from texts, `Map(LowCardinality(String), T)`. */
export interface MapColumn<Value> extends NativeColumn {
  /** Writes a row behind all that were written. */
  readonly set: (row: number, entries: readonly (readonly [string, Value])[]) => void;
}

/** A column of maps without rows; `write` writes a value of its type. */
export function mapColumn<Value>(
  name: string,
  valueType: string,
  write: (out: RowBinaryWriter, value: Value) => void,
): MapColumn<Value> {
  const values = createRowBinaryWriter(256);
  let keys: string[] = [];
  let counts = new Uint32Array();
  return {
    name,
    type: `Map(LowCardinality(String), ${valueType})`,
    get isWritten() {
      return keys.length > 0;
    },
    set(row, entries) {
      counts[row] = entries.length;
      for (const [key, value] of entries) {
        keys.push(key);
        write(values, value);
      }
    },
    grow(rows) {
      const grown = new Uint32Array(rows);
      grown.set(counts);
      counts = grown;
    },
    take(out, rows) {
      writeDictionaryVersion(out);
      let end = 0;
      for (let row = 0; row < rows; row++) out.uint64((end += counts[row]!));
      const { count, encoded, ofRows } = textKeys(keys) ?? NO_KEYS;
      writeDictionary(out, { count: count + 1, encoded: Buffer.concat([EMPTY_TEXT, encoded]), ofRows });
      out.raw(values.take());
      keys = [];
      counts.fill(0);
    },
  };
}

const NO_KEYS: TextKeys = { count: 0, encoded: new Uint8Array(), ofRows: new Uint32Array() };
const EMPTY_TEXT = Buffer.from([0]);

/** The dictionary comes with the block, and is not one of a part. */
const SHARED_DICTIONARIES_WITH_ADDITIONAL_KEYS = 1;
const HAS_ADDITIONAL_KEYS = 1 << 9;
const NEEDS_UPDATE = 1 << 10;
const INDEX_UINT16 = 1;
const INDEX_UINT32 = 2;

function writeDictionaryVersion(out: RowBinaryWriter): void {
  out.uint64(SHARED_DICTIONARIES_WITH_ADDITIONAL_KEYS);
}

/** A dictionary of so many keys, and which of them each row has, counted from 0. */
function writeDictionary(out: RowBinaryWriter, { count, encoded, ofRows }: TextKeys): void {
  const isNarrow = count <= 2 ** 16;
  out.uint64(HAS_ADDITIONAL_KEYS | NEEDS_UPDATE | (isNarrow ? INDEX_UINT16 : INDEX_UINT32));
  out.uint64(count);
  out.raw(encoded);
  out.uint64(ofRows.length);
  const indexes = isNarrow ? new Uint16Array(ofRows) : ofRows;
  out.raw(new Uint8Array(indexes.buffer, indexes.byteOffset, indexes.byteLength));
}
