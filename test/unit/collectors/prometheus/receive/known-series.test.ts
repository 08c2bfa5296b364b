import { expect, it } from "vitest";
import { createKnownSeriesTable, hasBytes } from "../../../../../collectors/prometheus/receive/known-series.ts";
import type { SeriesPlace } from "../../../../../collectors/prometheus/receive/model.ts";

const SERIES = 10_000;
const PLACE = {} as SeriesPlace;
const HEAD = Buffer.from("label AA");
const TAIL = Buffer.from("x".repeat(150));
const LENGTH = HEAD.length + 8 + TAIL.length;

/** A step of the table's hash: the state after four bytes. */
function stepOf(state: number, word: number): number {
  const hash = Math.imul(state ^ word, 0x9e3779b1);
  return hash ^ (hash >>> 15);
}

/** Labels of one hash: the second word of each value cancels the difference of the first one. */
function colliding(): readonly Buffer[] {
  const begin = stepOf(stepOf(LENGTH, HEAD.readInt32LE(0)), HEAD.readInt32LE(4));
  return Array.from({ length: SERIES }, (_, index) => {
    const value = Buffer.alloc(8);
    value.writeInt32LE(index, 0);
    value.writeInt32LE(stepOf(begin, index) ^ 0x1234567, 4);
    return Buffer.concat([HEAD, value, TAIL]);
  });
}

function honest(): readonly Buffer[] {
  return Array.from({ length: SERIES }, (_, index) =>
    Buffer.concat([HEAD, Buffer.from(String(index).padStart(8)), TAIL]),
  );
}

const viewOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** Finds and adds all labels, finds them again, and returns the shortest time of three tables, in milliseconds. */
function millisOf(all: readonly Buffer[]): number {
  const times = Array.from({ length: 3 }, () => {
    const table = createKnownSeriesTable();
    const begun = performance.now();
    let found = 0;
    for (const bytes of all) {
      if (table.find(viewOf(bytes), 0, LENGTH) !== undefined) found += 1;
      table.add(viewOf(bytes), 0, LENGTH, PLACE, 1);
    }
    expect([found, table.size]).toEqual([0, SERIES]);
    for (const bytes of all) if (hasBytes(table.find(viewOf(bytes), 0, LENGTH)!, viewOf(bytes), 0)) found += 1;
    expect(found).toBe(SERIES);
    const millis = performance.now() - begun;
    table.forget(2);
    expect([table.size, table.bytes]).toEqual([0, 0]);
    expect(table.find(viewOf(all.at(-1)!), 0, LENGTH)).toBeUndefined();
    return millis;
  });
  return Math.min(...times);
}

it("finds series whose labels were chosen to have one hash nearly as fast as others", { timeout: 120_000 }, () => {
  // Without a limit of the chain, 10,000 series need 50 million comparisons.
  expect(millisOf(colliding())).toBeLessThan(20 * millisOf(honest()));
});
