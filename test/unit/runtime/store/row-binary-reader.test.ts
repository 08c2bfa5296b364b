import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { rowsOf, type RowBinaryReader } from "../../../../runtime/store/row-binary-reader.ts";
import { rounds } from "../../../support/rounds.ts";
import { wireBytes } from "../../../support/wire.ts";

interface Row {
  readonly small: number;
  readonly slot: number;
  readonly count: number;
  readonly sum: bigint;
  readonly isOn: boolean;
  readonly text: string;
  readonly at: number;
  readonly list: readonly { readonly name: string; readonly amount: bigint }[];
}

const anyRow: fc.Arbitrary<Row> = fc.record({
  small: fc.nat(255),
  slot: fc.nat(65_535),
  count: fc.nat(0xffff_ffff),
  sum: fc.bigInt(0n, 2n ** 64n - 1n),
  isOn: fc.boolean(),
  text: fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.constant("é".repeat(20_000))),
  at: fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 }),
  list: fc.array(fc.record({ name: fc.string(), amount: fc.bigInt(0n, 2n ** 64n - 1n) }), { maxLength: 3 }),
});

function written(rows: readonly Row[]): Uint8Array {
  return wireBytes(({ string, whole, length }) => {
    for (const row of rows) {
      whole(1, row.small);
      whole(2, row.slot);
      whole(4, row.count);
      whole(8, row.sum);
      whole(1, Number(row.isOn));
      string(row.text);
      whole(8, row.at);
      length(row.list.length);
      for (const { name, amount } of row.list) {
        string(name);
        whole(8, amount);
      }
    }
  });
}

function read({ uint8, uint16, uint32, uint64, bool, string, dateTime64Millis, array }: RowBinaryReader): Row {
  return {
    small: uint8(),
    slot: uint16(),
    count: uint32(),
    sum: uint64(),
    isOn: bool(),
    text: string(),
    at: dateTime64Millis(),
    list: array(() => ({ name: string(), amount: uint64() })),
  };
}

/** Bytes in the pieces of a network: the cuts do not depend on rows. */
async function* cut(bytes: Uint8Array, places: readonly number[]): AsyncGenerator<Uint8Array> {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  for (const [index, until] of at.slice(1).entries()) yield bytes.slice(at[index], until);
}

async function all(parts: AsyncIterable<Uint8Array>): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const portion of rowsOf(parts, read)) rows.push(...portion);
  return rows;
}

describe("the RowBinary reader", () => {
  it("reads the written rows, for any cuts of the bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 5 }), fc.array(fc.nat()), async (rows, places) => {
        expect(await all(cut(written(rows), places))).toEqual(rows);
      }),
      { seed: 7, numRuns: rounds(300) },
    );
  });

  it("refuses an answer that ends within a row, and passes on an exception from a row", async () => {
    const [row] = fc.sample(anyRow, { seed: 7, numRuns: 1 });
    const bytes = written([row!, row!]);
    await expect(all(cut(bytes.slice(0, -1), [40]))).rejects.toThrow("ends within a row");
    const failing = rowsOf(cut(bytes, []), () => {
      throw new RangeError("no such state");
    });
    await expect(failing.next()).rejects.toThrow("no such state");
  });
});
