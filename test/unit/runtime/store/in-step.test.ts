import { setImmediate, setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { inStep, together } from "../../../../runtime/store/in-step.ts";
import type { StoreClient } from "../../../../runtime/store/client.ts";

/** A store that notes its inserts. */
function noting() {
  const inserts: unknown[] = [];
  const store = {
    insertRows: (table: string, _columns: readonly string[], body: readonly Uint8Array[]) => {
      inserts.push([table, ...body.map((bytes) => [...bytes])]);
      return Promise.resolve({ writtenRows: body.length });
    },
    insertJson: (table: string, rows: readonly object[]) => {
      inserts.push([table, ...rows]);
      return Promise.resolve({ writtenRows: rows.length });
    },
  };
  return { inserts, store: store as unknown as StoreClient };
}

/** Questions that are answered by their double, and the portions in which they were asked. */
function doubling() {
  const portions: (readonly number[])[] = [];
  const double = async (_store: StoreClient, asked: readonly number[]): Promise<readonly number[]> => {
    portions.push(asked);
    await setImmediate();
    return asked.map((each) => 2 * each);
  };
  return { portions, double };
}

describe("works that run in step", () => {
  it("share the statements of the same question, and each gets its own answer", async () => {
    const { portions, double } = doubling();
    const results = await inStep(noting().store, [1, 2, 3], async (item, own) => {
      const once = await together(own, double, item);
      await setImmediate();
      return together(own, double, once + 1);
    });
    expect(results.map((result) => result.status === "fulfilled" && result.value)).toEqual([6, 10, 14]);
    expect(portions).toEqual([
      [1, 2, 3],
      [3, 5, 7],
    ]);
  });

  it("wait for those that are behind, and go on without those that have ended or failed", async () => {
    const { portions, double } = doubling();
    const { portions: late, double: other } = doubling();
    const results = await inStep(noting().store, [1, 2, 3, 4], async (item, own) => {
      if (item === 3) return 0;
      if (item === 4) throw new Error("four");
      // The first work asks a question more than the others.
      for (let more = item; more < 3; more++) await together(own, double, item);
      await pause(item * 3);
      return together(own, other, item);
    });
    expect(results.map((result) => (result.status === "fulfilled" ? result.value : "failed"))).toEqual([
      2,
      4,
      0,
      "failed",
    ]);
    expect(portions).toEqual([[1, 2], [1]]);
    expect(late).toEqual([[2, 1]]);
  });

  it("insert into a table at once", async () => {
    const { inserts, store } = noting();
    await inStep(store, [1, 2], async (item, own) => {
      await Promise.all([own.insertRows("a", ["x"], [Uint8Array.of(item)]), own.insertJson("b", [{ item }])]);
      await own.insertRows("a", ["y"], [Uint8Array.of(item)]);
    });
    expect(inserts).toEqual([
      ["a", [1], [2]],
      ["b", { item: 1 }, { item: 2 }],
      ["a", [1], [2]],
    ]);
  });

  it("fail together with the statement that they share", async () => {
    const refuse = (): Promise<never> => Promise.reject(new Error("refused"));
    const results = await inStep(noting().store, [1, 2], (item, own) => together(own, refuse, item));
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  it("ask alone without a step", async () => {
    const { portions, double } = doubling();
    expect(await together(noting().store, double, 4)).toBe(8);
    expect(portions).toEqual([[4]]);
  });
});
