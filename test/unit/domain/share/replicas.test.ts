import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rational } from "../../../../domain/exact/rational.ts";
import { replicaShares, type ReplicaClaim, type SharedBy } from "../../../../domain/share/replicas.ts";
import { sumOf } from "../../../../domain/share/scale.ts";
import { textOf } from "./fraction-text.ts";

const pod = (holder: string, count = 1, activity?: bigint): ReplicaClaim =>
  activity === undefined ? { holder, count: rational(count) } : { holder, count: rational(count), activity };
const shares = (replicas: number, claims: readonly ReplicaClaim[], sharedBy: SharedBy) =>
  replicaShares(replicas, claims, sharedBy).map(textOf);

describe("a GPU that is shared as replicas", () => {
  it("gives 1/R to each replica, independent of other pods", () => {
    expect(shares(4, [pod("a"), pod("b", 2)], "replica")).toEqual(["1/4", "1/2"]);
  });

  it("gives 1/(pods on the GPU) by occupant, independent of the replicas", () => {
    expect(shares(4, [pod("a"), pod("b", 2), pod("c")], "occupant")).toEqual(["1/3", "1/3", "1/3"]);
    expect(shares(4, [pod("a")], "occupant")).toEqual(["1"]);
  });

  it("counts a pod with two claims once; the claims divide its part equally", () => {
    expect(shares(4, [pod("a"), pod("a"), pod("b")], "occupant")).toEqual(["1/4", "1/4", "1/2"]);
  });

  it("counts a pod that may have less than a replica by that part", () => {
    const maybe = (holder: string, num: number, den: number): ReplicaClaim => ({ holder, count: rational(num, den) });
    expect(shares(2, [pod("a"), maybe("b", 1, 3)], "occupant")).toEqual(["3/4", "1/4"]);
    expect(shares(2, [maybe("b", 2, 3)], "occupant")).toEqual(["2/3"]);
    expect(shares(2, [pod("a"), maybe("b", 4, 3)], "occupant")).toEqual(["1/2", "1/2"]);
    expect(shares(2, [pod("a"), maybe("b", 1, 3)], "replica")).toEqual(["1/2", "1/6"]);
  });

  it("gives each pod its part of the total activity by usage", () => {
    // 300 + 100 + 0 = 400.
    expect(shares(4, [pod("a", 1, 300n), pod("b", 2, 100n), pod("c", 1, 0n)], "usage")).toEqual(["3/4", "1/4", "0"]);
  });

  it("gives equal shares by usage if a value is missing or all are 0", () => {
    expect(shares(4, [pod("a", 1, 300n), pod("b")], "usage")).toEqual(["1/2", "1/2"]);
    expect(shares(4, [pod("a", 1, 0n), pod("b", 3, 0n)], "usage")).toEqual(["1/2", "1/2"]);
  });

  it("refuses a negative activity and R = 0", () => {
    expect(() => shares(4, [pod("a", 1, -1n)], "usage")).toThrow(RangeError);
    expect(() => shares(0, [pod("a")], "replica")).toThrow(RangeError);
  });

  it("is held completely by occupant and by usage as soon as a pod is on it", () => {
    const claim = fc.record({
      holder: fc.constantFrom("a", "b", "c"),
      count: fc.integer({ min: 1, max: 8 }).map((count) => rational(count)),
      activity: fc.bigInt(0n, 10n ** 14n),
    });
    fc.assert(
      fc.property(
        fc.array(claim, { minLength: 1, maxLength: 8 }),
        fc.constantFrom("occupant", "usage"),
        (claims, by) => {
          expect(textOf(sumOf(replicaShares(8, claims, by)))).toBe("1");
        },
      ),
    );
  });
});
