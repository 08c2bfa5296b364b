import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSlots } from "../../../../reports/server/slots.ts";
import { collectGarbage } from "../../../support/garbage.ts";

/** Works that run until they are ended by name. */
function createWorks() {
  const started: string[] = [];
  const ending = new Map<string, () => void>();
  return {
    started,
    work: (name: string) => (): Promise<string> => {
      started.push(name);
      return new Promise((resolve) => ending.set(name, () => resolve(name)));
    },
    async end(...names: readonly string[]): Promise<void> {
      for (const name of names) {
        await settled();
        ending.get(name)!();
      }
      await settled();
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;
const hold = { signal: never, mostMillis: 60_000 };

describe("slots", () => {
  it("are given to the caller with the fewest running works, and in turn among equals", async () => {
    const slots = createSlots({ atOnce: 2, ofCaller: 2, waiting: 10 });
    const { started, work, end } = createWorks();
    const all = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((name) => slots.run(name[0]!, work(name), never));
    await settled();
    expect(started).toEqual(["a1", "a2"]);
    await end("a1", "b1", "a2", "c1", "a3", "b2");
    expect(started).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
    await end("a4");
    expect(await Promise.all(all)).toHaveLength(7);
  });

  it("are given to the fewest running works before the longest wait", async () => {
    const slots = createSlots({ atOnce: 3, ofCaller: 3, waiting: 10 });
    const { started, work, end } = createWorks();
    const all = ["a1", "a2", "b1", "a3", "b2"].map((name) => slots.run(name[0]!, work(name), never));
    await end("b1");
    expect(started).toEqual(["a1", "a2", "b1", "b2"]);
    await end("a1", "a2", "b2", "a3");
    expect(await Promise.all(all)).toHaveLength(5);
  });

  it("are kept free for others by the limit of one caller", async () => {
    const slots = createSlots({ atOnce: 2, ofCaller: 1, waiting: 10 });
    const { started, work, end } = createWorks();
    const all = ["a1", "a2", "b1"].map((name) => slots.run(name[0]!, work(name), never));
    await settled();
    expect(started).toEqual(["a1", "b1"]);
    await end("a1", "a2", "b1");
    expect(await Promise.all(all)).toEqual(["a1", "a2", "b1"]);
  });

  it("are refused only to the caller whose works wait already", async () => {
    const slots = createSlots({ atOnce: 1, ofCaller: 1, waiting: 2 });
    const { started, work, end } = createWorks();
    const running = ["a1", "a2", "a3"].map((name) => slots.run("a", work(name), never));
    await expect(slots.run("a", work("a4"), never)).rejects.toMatchObject({ code: "busy", status: 503 });
    const other = slots.run("b", work("b1"), never);
    await end("a1", "b1", "a2", "a3");
    await Promise.all([...running, other]);
    expect(started).toEqual(["a1", "b1", "a2", "a3"]);
  });

  it("are not given to who has left", async () => {
    const slots = createSlots({ atOnce: 1, ofCaller: 1, waiting: 5 });
    const { started, work, end } = createWorks();
    const gone = new AbortController();
    const first = slots.run("a", work("a1"), never);
    const left = slots.run("a", work("a2"), gone.signal);
    const last = slots.run("a", work("a3"), never);
    gone.abort();
    await expect(left).rejects.toThrow("aborted");
    await expect(slots.run("a", work("a4"), gone.signal)).rejects.toThrow("aborted");
    await end("a1", "a3");
    await Promise.all([first, last]);
    expect(started).toEqual(["a1", "a3"]);
  });

  it("are free again after a failure, and when the reader of items stops", async () => {
    const slots = createSlots({ atOnce: 1, ofCaller: 1, waiting: 5 });
    await expect(slots.run("a", () => Promise.reject(new Error("no")), never)).rejects.toThrow("no");
    async function* items() {
      yield 1;
      yield 2;
      await Promise.resolve();
    }
    for await (const item of slots.iterate("a", items, hold)) {
      expect(item).toBe(1);
      break;
    }
    const all: number[] = [];
    for await (const item of slots.iterate("b", items, hold)) all.push(item);
    expect(all).toEqual([1, 2]);
    expect(await slots.run("a", () => Promise.resolve("ran"), never)).toBe("ran");
  });

  it("are free again if the reader of items leaves, or is too slow, without another read", async () => {
    const slots = createSlots({ atOnce: 1, ofCaller: 1, waiting: 5 });
    const gone = new AbortController();
    async function* items() {
      yield 1;
      yield 2;
      await Promise.resolve();
    }
    await slots.iterate("a", items, { signal: gone.signal, mostMillis: 60_000 }).next();
    gone.abort();
    await slots.iterate("a", items, { signal: never, mostMillis: 100 }).next();
    await sleep(20);
    collectGarbage();
    expect(await slots.run("b", () => Promise.resolve("ran"), never)).toBe("ran");
  });

  it("are free again if the reader of items leaves in the moment of its turn", async () => {
    const slots = createSlots({ atOnce: 1, ofCaller: 1, waiting: 5 });
    const [first, second] = [new AbortController(), new AbortController()];
    async function* items() {
      yield 1;
      await Promise.resolve();
    }
    const held = slots.iterate("a", items, { signal: first.signal, mostMillis: 60_000 });
    await held.next();
    const waiting = slots.iterate("b", items, { signal: second.signal, mostMillis: 60_000 });
    const answer = waiting.next();
    await settled();
    // Both at once, as when two requests of one connection end.
    first.abort();
    second.abort();
    await answer;
    await waiting.return(undefined);
    expect(await slots.run("c", () => Promise.resolve("ran"), AbortSignal.timeout(1_000))).toBe("ran");
  });
});
