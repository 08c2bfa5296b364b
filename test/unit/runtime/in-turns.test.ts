import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { inTurns, slicesBySize, slicesOf } from "../../../runtime/in-turns.ts";

describe("work in turns", () => {
  it("has at most the given number of items at once, begun in their order", async () => {
    const begun: number[] = [];
    let now = 0;
    let most = 0;
    await inTurns([0, 1, 2, 3, 4], 2, async (item, index) => {
      begun.push(item * 10 + index);
      most = Math.max(most, (now += 1));
      await setImmediate();
      now -= 1;
    });
    expect(begun).toEqual([0, 11, 22, 33, 44]);
    expect(most).toBe(2);
  });

  it("begins nothing after a failure, which is reported when all started work has ended", async () => {
    const ended: number[] = [];
    const work = inTurns([0, 1, 2, 3], 2, async (item) => {
      if (item === 0) throw new Error("no");
      await setImmediate();
      ended.push(item);
    });
    await expect(work).rejects.toThrow("no");
    expect(ended).toEqual([1]);
  });
});

describe("slices", () => {
  it("have the given length, except the last one; an empty list has none", () => {
    expect(slicesOf([1, 2, 3], 2)).toEqual([[1, 2], [3]]);
    expect(slicesOf([], 2)).toEqual([]);
  });
});

describe("slices by size", () => {
  it("have at most 3 items with a sum of at most 10, in order; a larger item is alone", () => {
    const slices = (sizes: readonly number[]) => slicesBySize(sizes, (size) => size, { most: 3, size: 10 });
    expect(slices([1, 2, 3, 4, 5, 20, 1, 9, 1])).toEqual([[1, 2, 3], [4, 5], [20], [1, 9], [1]]);
    expect(slices([])).toEqual([]);
  });
});
