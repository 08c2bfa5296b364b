import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { balance } from "../../../../../runtime/bus/embedded/assignment.ts";

const names = (count: number) => Array.from({ length: count }, (_, n) => `topic/${n}`);
const everyone = (partitions: number, members: readonly string[]) =>
  new Map(names(partitions).map((name) => [name, members]));
const countsOf = (owners: Readonly<Record<string, string>>, members: readonly string[]) =>
  members.map((member) => Object.values(owners).filter((owner) => owner === member).length);

const memberLists = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f"), { minLength: 1, maxLength: 6 });

describe("the assignment of partitions", () => {
  it("gives every partition to one subscriber, with counts that differ by at most one", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), memberLists, memberLists, (partitions, before, after) => {
        const owners = balance(everyone(partitions, after), balance(everyone(partitions, before), {}));
        expect(Object.keys(owners).toSorted()).toEqual(names(partitions).toSorted());
        const counts = countsOf(owners, after);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(partitions);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("moves only its share to a new member, and nothing between the others", () => {
    const before = balance(everyone(12, ["a", "b", "c"]), {});
    const after = balance(everyone(12, ["a", "b", "c", "d"]), before);
    const moved = names(12).filter((name) => before[name] !== after[name]);
    expect(moved).toHaveLength(3);
    expect(moved.map((name) => after[name])).toEqual(["d", "d", "d"]);
  });

  it("gives a partition only to members that subscribe to its topic", () => {
    const subscribers = new Map([
      ["x/0", ["a"]],
      ["x/1", ["a"]],
      ["x/2", ["a"]],
      ["y/0", ["a", "b"]],
    ]);
    expect(balance(subscribers, { "y/0": "a" })).toEqual({ "x/0": "a", "x/1": "a", "x/2": "a", "y/0": "b" });
  });

  it("does not depend on the order of members and partitions", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), memberLists, (partitions, members) => {
        const forward = balance(everyone(partitions, members), {});
        const backward = balance(new Map([...everyone(partitions, members.toReversed())].toReversed()), {});
        expect(backward).toEqual(forward);
      }),
    );
  });
});
