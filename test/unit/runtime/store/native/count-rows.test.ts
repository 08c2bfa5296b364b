import { describe, expect, it } from "vitest";

import { countNativeRows } from "../../../../../runtime/store/native/count-rows.ts";
import { wireBytes, type Wire } from "../../../../support/wire.ts";

const bytesOf = (write: (wire: Wire) => void): Buffer => Buffer.from(wireBytes(write));

/** A block of one column as chDB writes it. */
const block = (type: string, rows: number, values: (wire: Wire) => void): Buffer =>
  bytesOf((w) => {
    w.whole(1, 1);
    w.whole(1, rows);
    w.string("c");
    w.string(type);
    values(w);
  });

type Column = readonly [string, number, (wire: Wire) => void];

const columns: readonly Column[] = [
  ["UInt8", 2, (w) => w.whole(2, 0x0201)],
  ["DateTime64(3, 'UTC')", 1, (w) => w.whole(8, 5)],
  ["Enum8('a, (b' = 1)", 1, (w) => w.whole(1, 1)],
  ["Decimal(9, 2)", 1, (w) => w.whole(4, 5)],
  ["Decimal(10, 2)", 1, (w) => w.whole(8, 5)],
  ["Decimal(38, 2)", 1, (w) => w.whole(16, 5)],
  ["FixedString(3)", 2, (w) => [1, 2, 3, 4, 5, 6].forEach((value) => w.whole(1, value))],
  ["IntervalDay", 1, (w) => w.whole(8, 1)],
  ["UUID", 1, (w) => w.whole(16, 7)],
  ["String", 2, (w) => ["", "x".repeat(300)].forEach(w.string)],
  [
    "Nullable(String)",
    2,
    (w) => [() => w.whole(2, 1), () => w.string(""), () => w.string("b")].forEach((write) => write()),
  ],
  [
    "Array(String)",
    2,
    (w) =>
      [() => w.whole(8, 0), () => w.whole(8, 2), () => w.string("a"), () => w.string("b")].forEach((write) => write()),
  ],
  [
    "Array(Array(UInt8))",
    1,
    (w) =>
      [
        () => w.whole(8, 2),
        () => w.whole(8, 1),
        () => w.whole(8, 3),
        () => [7, 8, 9].forEach((value) => w.whole(1, value)),
      ].forEach((write) => write()),
  ],
  [
    "Map(String, UInt16)",
    1,
    (w) => [() => w.whole(8, 1), () => w.string("k"), () => w.whole(2, 5)].forEach((write) => write()),
  ],
  [
    "Tuple(a UInt8, `b c` Nullable(UInt16))",
    1,
    (w) => [() => w.whole(1, 1), () => w.whole(1, 0), () => w.whole(2, 5)].forEach((write) => write()),
  ],
  ["SimpleAggregateFunction(sum, UInt64)", 1, (w) => w.whole(8, 5)],
  [
    "LowCardinality(Nullable(String))",
    3,
    (w) => {
      w.whole(8, 1);
      w.whole(8, 0x600);
      w.whole(8, 2);
      w.string("");
      w.string("red");
      w.whole(8, 3);
      [1, 0, 1].forEach((value) => w.whole(1, value));
    },
  ],
  [
    "Array(LowCardinality(String))",
    1,
    (w) => {
      w.whole(8, 1);
      w.whole(8, 0);
    },
  ],
];

describe("the rows of Native blocks", () => {
  it.each(columns)("are counted for any content, such as %s", (type, rows, values) => {
    const blocks = [
      block(type, rows, values),
      block(type, 0, () => undefined),
      block("UInt8", 1, (w) => w.whole(1, 9)),
    ];
    expect(countNativeRows(Buffer.concat(blocks))).toBe(rows + 1);
  });

  it("are refused if the length of a type is unknown", () => {
    for (const type of ["Dynamic", "JSON", "Variant(String, UInt8)", "AggregateFunction(uniq, String)"]) {
      expect(() => countNativeRows(block(type, 1, (w) => w.whole(8, 0)))).toThrow(RangeError);
    }
  });

  it("are 0 if there are no blocks", () => {
    expect(countNativeRows(Buffer.alloc(0))).toBe(0);
  });
});
