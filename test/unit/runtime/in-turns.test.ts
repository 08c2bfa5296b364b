import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { inTurns, oneAhead, slicesOf } from "../../../runtime/in-turns.ts";

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

describe("work one item ahead", () => {
  it("begins the next item while one is processed, and no further one", async () => {
    const begun: number[] = [];
    const made = oneAhead([1, 2, 3], async (item) => {
      begun.push(item);
      await setImmediate();
      return item * 10;
    });
    expect(await made.next()).toEqual({ done: false, value: 10 });
    expect(begun).toEqual([1, 2]);
    const rest: number[] = [];
    for await (const one of made) rest.push(one);
    expect(rest).toEqual([20, 30]);
    expect(begun).toEqual([1, 2, 3]);
  });

  it("reports a failure at its place in the order", async () => {
    const made = oneAhead([1, 2], async (item) => {
      if (item === 2) throw new Error("no");
      return item;
    });
    expect(await made.next()).toMatchObject({ value: 1 });
    await expect(made.next()).rejects.toThrow("no");
  });
});

describe("slices", () => {
  it("have the given length, except the last one; an empty list has none", () => {
    expect(slicesOf([1, 2, 3], 2)).toEqual([[1, 2], [3]]);
    expect(slicesOf([], 2)).toEqual([]);
  });
});
