import { describe, expect, it } from "vitest";

import { createLane } from "../../../../../runtime/store/embedded/lane.ts";

describe("a lane", () => {
  it("runs up to its limit, lets the next calls wait in order, and refuses a call if the queue is full", async () => {
    const lane = createLane("test", { concurrent: 1, waiting: 2 });
    const order: string[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = lane.run(async () => {
      await held;
      order.push("first");
    });
    const second = lane.run(async () => order.push("second"));
    const third = lane.run(async () => order.push("third"));
    expect([lane.running, lane.waiting]).toEqual([1, 2]);
    await expect(lane.run(async () => order.push("fourth"))).rejects.toMatchObject({ clickhouseCode: 202 });
    release();
    await Promise.all([first, second, third]);
    expect(order).toEqual(["first", "second", "third"]);
    expect([lane.running, lane.waiting]).toEqual([0, 0]);
  });

  it("continues after a failure, and skips callers that went away while they waited", async () => {
    const lane = createLane("test", { concurrent: 1, waiting: 2 });
    const gone = new AbortController();
    const failing = lane.run(async () => await Promise.reject(new Error("no")));
    const skipped = lane.run(async () => "ran", gone.signal);
    const last = lane.run(async () => "last");
    gone.abort();
    await expect(failing).rejects.toThrow("no");
    await expect(skipped).rejects.toMatchObject({ clickhouseCode: 394 });
    await expect(last).resolves.toBe("last");
  });
});
