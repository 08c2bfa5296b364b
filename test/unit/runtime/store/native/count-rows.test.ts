import { describe, expect, it } from "vitest";

import { countNativeRows } from "../../../../../runtime/store/native/count-rows.ts";
import { createRowBinaryWriter } from "../../../../../runtime/store/row-binary.ts";
import type { RowBinaryWriter } from "../../../../../runtime/store/row-binary.ts";

function bytesOf(write: (writer: RowBinaryWriter) => void): Buffer {
  const writer = createRowBinaryWriter();
  write(writer);
  return Buffer.from(writer.take());
}

/** A block of one column as chDB writes it. */
const block = (type: string, rows: number, values: (writer: RowBinaryWriter) => void): Buffer =>
  bytesOf((w) => {
    w.uint8(1);
    w.uint8(rows);
    w.string("c");
    w.string(type);
    values(w);
  });

type Column = readonly [string, number, (writer: RowBinaryWriter) => void];

const columns: readonly Column[] = [
  ["UInt8", 2, (w) => w.uint16(0x0201)],
  ["DateTime64(3, 'UTC')", 1, (w) => w.int64(5)],
  ["Enum8('a, (b' = 1)", 1, (w) => w.uint8(1)],
  ["Decimal(9, 2)", 1, (w) => w.int32(5)],
  ["Decimal(10, 2)", 1, (w) => w.int64(5)],
  ["Decimal(38, 2)", 1, (w) => w.decimal128(5n)],
  ["FixedString(3)", 2, (w) => [1, 2, 3, 4, 5, 6].forEach(w.uint8)],
  ["IntervalDay", 1, (w) => w.int64(1)],
  ["UUID", 1, (w) => w.uuid("61f0c404-5cb3-11e7-907b-a6006ad3dba0")],
  ["String", 2, (w) => ["", "x".repeat(300)].forEach(w.string)],
  [
    "Nullable(String)",
    2,
    (w) => [() => w.uint16(1), () => w.string(""), () => w.string("b")].forEach((write) => write()),
  ],
  [
    "Array(String)",
    2,
    (w) => [() => w.int64(0), () => w.int64(2), () => w.string("a"), () => w.string("b")].forEach((write) => write()),
  ],
  [
    "Array(Array(UInt8))",
    1,
    (w) =>
      [() => w.int64(2), () => w.int64(1), () => w.int64(3), () => [7, 8, 9].forEach(w.uint8)].forEach((write) =>
        write(),
      ),
  ],
  [
    "Map(String, UInt16)",
    1,
    (w) => [() => w.int64(1), () => w.string("k"), () => w.uint16(5)].forEach((write) => write()),
  ],
  [
    "Tuple(a UInt8, `b c` Nullable(UInt16))",
    1,
    (w) => [() => w.uint8(1), () => w.uint8(0), () => w.uint16(5)].forEach((write) => write()),
  ],
  ["SimpleAggregateFunction(sum, UInt64)", 1, (w) => w.int64(5)],
  [
    "LowCardinality(Nullable(String))",
    3,
    (w) => {
      w.int64(1);
      w.int64(0x600);
      w.int64(2);
      w.string("");
      w.string("red");
      w.int64(3);
      [1, 0, 1].forEach(w.uint8);
    },
  ],
  [
    "Array(LowCardinality(String))",
    1,
    (w) => {
      w.int64(1);
      w.int64(0);
    },
  ],
];

describe("the rows of Native blocks", () => {
  it.each(columns)("are counted whatever they hold, such as %s", (type, rows, values) => {
    const blocks = [block(type, rows, values), block(type, 0, () => undefined), block("UInt8", 1, (w) => w.uint8(9))];
    expect(countNativeRows(Buffer.concat(blocks))).toBe(rows + 1);
  });

  it("are refused where the length of a type is not known", () => {
    for (const type of ["Dynamic", "JSON", "Variant(String, UInt8)", "AggregateFunction(uniq, String)"]) {
      expect(() => countNativeRows(block(type, 1, (w) => w.int64(0)))).toThrow(RangeError);
    }
  });

  it("are none where there are no blocks", () => {
    expect(countNativeRows(Buffer.alloc(0))).toBe(0);
  });
});
