/** Text columns. They are sent with dictionaries, as ClickHouse's SerializationLowCardinality.cpp reads them. */
import { createByteWriter, type ByteWriter } from "./byte-writer.ts";
import type { NativeColumn } from "./block.ts";

/** Texts of some rows as a dictionary, with the key of each row: counted from 1, or 0 for the empty text. */
export interface TextKeys {
  readonly count: number;
  readonly encoded: Uint8Array;
  readonly ofRows: Uint32Array;
}

/** A column of texts with a dictionary, `LowCardinality(String)`. A table may have the column as `String`. */
export interface TextColumn extends NativeColumn {
  /** Writes a row. */
  readonly put: (row: number, text: string) => void;
  /** Writes rows from `row` on. */
  readonly putKeys: (row: number, keys: TextKeys) => void;
}

/** Returns the dictionary of texts; undefined if all are empty. */
export function textKeys(texts: readonly string[]): TextKeys | undefined {
  const keys = new Map([["", 0]]);
  for (const text of texts) if (!keys.has(text)) keys.set(text, keys.size);
  if (keys.size === 1) return undefined;
  const writer = createByteWriter(256);
  for (const text of keys.keys()) if (text !== "") writer.string(text);
  const ofRows = Uint32Array.from(texts, (text) => keys.get(text)!);
  return { count: keys.size - 1, encoded: writer.take().slice(), ofRows };
}

/** Creates an empty column of texts. */
export function textColumn(name: string): TextColumn {
  const keys = createByteWriter(1024);
  const known = new Map<string, number>();
  let last = { text: "", key: 0 };
  let count = 0;
  let ofRows = new Uint32Array();
  /** Begins a dictionary. Its first text is the empty one. */
  function begin(): void {
    if (count > 0) return;
    keys.string("");
    count = 1;
  }
  return {
    name,
    type: "LowCardinality(String)",
    get isWritten() {
      return count > 0;
    },
    put(row, text) {
      if (text !== last.text) {
        begin();
        let key = text === "" ? 0 : known.get(text);
        if (key === undefined) {
          keys.string(text);
          known.set(text, (key = count++));
        }
        last = { text, key };
      }
      ofRows[row] = last.key;
    },
    putKeys(row, added) {
      begin();
      // A text in two dictionaries is sent twice: the store detects that at a lower cost than we would.
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
      begin();
      writeDictionaryVersion(out);
      writeDictionary(out, { count, encoded: keys.take(), ofRows: ofRows.subarray(0, rows) });
      ofRows.fill(0);
      count = 0;
      known.clear();
      last = { text: "", key: 0 };
    },
  };
}

/** A column of texts one after the other, `String`. */
export interface PlainTextColumn extends NativeColumn {
  /** Writes a row after all rows that were written. */
  readonly put: (row: number, text: string) => void;
}

/** Creates an empty column of texts without a dictionary, for texts that are long or all different. */
export function plainTextColumn(name: string): PlainTextColumn {
  const texts = createByteWriter(1024);
  let count = 0;
  function fillTo(rows: number): void {
    for (; count < rows; count++) texts.string("");
  }
  return {
    name,
    type: "String",
    get isWritten() {
      return count > 0;
    },
    put(row, text) {
      fillTo(row);
      texts.string(text);
      count += 1;
    },
    grow: () => {},
    take(out, rows) {
      fillTo(rows);
      out.raw(texts.take());
      count = 0;
    },
  };
}

/** A column of maps from texts, `Map(LowCardinality(String), T)`. */
export interface MapColumn<Value> extends NativeColumn {
  /** Writes a row after all rows that were written. */
  readonly put: (row: number, entries: readonly (readonly [string, Value])[]) => void;
}

/** Creates an empty column of maps. `write` writes a value of its type. */
export function mapColumn<Value>(
  name: string,
  valueType: string,
  write: (out: ByteWriter, value: Value) => void,
): MapColumn<Value> {
  const values = createByteWriter(256);
  let keys: string[] = [];
  let counts = new Uint32Array();
  return {
    name,
    type: `Map(LowCardinality(String), ${valueType})`,
    get isWritten() {
      return keys.length > 0;
    },
    put(row, entries) {
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
      // Without keys nothing follows, not even a dictionary.
      if (keys.length > 0) {
        const { count, encoded, ofRows } = textKeys(keys) ?? { ...NO_KEYS, ofRows: new Uint32Array(keys.length) };
        writeDictionary(out, { count: count + 1, encoded: Buffer.concat([EMPTY_TEXT, encoded]), ofRows });
      }
      out.raw(values.take());
      keys = [];
      counts.fill(0);
    },
  };
}

const NO_KEYS = { count: 0, encoded: new Uint8Array() };
const EMPTY_TEXT = Buffer.from([0]);

/** The version flag: the dictionary comes with the block and does not belong to a part. */
const SHARED_DICTIONARIES_WITH_ADDITIONAL_KEYS = 1;
const HAS_ADDITIONAL_KEYS = 1 << 9;
const NEEDS_UPDATE = 1 << 10;
const INDEX_UINT16 = 1;
const INDEX_UINT32 = 2;

function writeDictionaryVersion(out: ByteWriter): void {
  out.uint64(SHARED_DICTIONARIES_WITH_ADDITIONAL_KEYS);
}

/** Writes a dictionary of `count` keys, and the key of each row, counted from 0. */
function writeDictionary(out: ByteWriter, { count, encoded, ofRows }: TextKeys): void {
  const isNarrow = count <= 2 ** 16;
  out.uint64(HAS_ADDITIONAL_KEYS | NEEDS_UPDATE | (isNarrow ? INDEX_UINT16 : INDEX_UINT32));
  out.uint64(count);
  out.raw(encoded);
  out.uint64(ofRows.length);
  const indexes = isNarrow ? new Uint16Array(ofRows) : ofRows;
  out.raw(new Uint8Array(indexes.buffer, indexes.byteOffset, indexes.byteLength));
}
