import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareFacts, type OrderedFact } from "../../../domain/fact.ts";
import {
  decodeClusterFact,
  decodeInventory,
  decodeWorkload,
  encodeClusterFact,
  encodeInventory,
  encodeWorkload,
} from "../../../domain/messages/fact-message.ts";
import { inventoryFact, namespaceFact, workloadFact } from "../../support/facts.ts";

const facts = fc.record({
  epoch: fc.integer({ min: 1, max: 3 }),
  resourceVersion: fc.oneof(
    fc.integer({ min: 1, max: 12 }).map(String),
    fc.constantFrom("99999999999999999999", "100000000000000000000"),
  ),
  seenAtMillis: fc.integer({ min: 0, max: 3 }),
  ended: fc.boolean(),
});

function toFact({ ended, ...order }: { readonly ended: boolean } & Omit<OrderedFact, "end">): OrderedFact {
  return ended ? { ...order, end: { atMillis: order.seenAtMillis, inferred: false } } : order;
}

describe("the order of facts", () => {
  it("is antisymmetric and transitive", () => {
    fc.assert(
      fc.property(facts, facts, facts, (one, two, three) => {
        const [a, b, c] = [toFact(one), toFact(two), toFact(three)];
        expect(Math.sign(compareFacts(a, b))).toBe(-Math.sign(compareFacts(b, a)) + 0);
        expect(compareFacts(a, b) > 0 || compareFacts(b, c) > 0 || compareFacts(a, c) <= 0).toBe(true);
      }),
    );
  });

  it("is by the watcher's term first, then by the version as a number; at the same version the end comes last", () => {
    const fact = { epoch: 2, resourceVersion: "9", seenAtMillis: 5 };
    expect(compareFacts(fact, { ...fact, epoch: 1, resourceVersion: "1000" })).toBeGreaterThan(0);
    expect(compareFacts(fact, { ...fact, resourceVersion: "10", seenAtMillis: 1 })).toBeLessThan(0);
    expect(compareFacts(fact, { ...fact, seenAtMillis: 1, end: { atMillis: 1, inferred: true } })).toBeLessThan(0);
    expect(compareFacts(fact, { ...fact, resourceVersion: "abc", seenAtMillis: 6 })).toBeLessThan(0);
  });
});

describe("a fact's message", () => {
  it("is decoded to the same fact, under the key of its object", () => {
    const workload = workloadFact();
    expect(encodeWorkload(workload)).toMatchObject({ key: '["test","pod-1"]', schemaVersion: 1 });
    expect(decodeWorkload(encodeWorkload(workload).value)).toEqual(workload);
    expect(encodeInventory(inventoryFact()).key).toBe('["test","gpu-a"]');
    expect(decodeInventory(encodeInventory(inventoryFact()).value)).toEqual(inventoryFact());
    expect(encodeClusterFact(namespaceFact()).key).toBe('["test","Namespace","namespace-1"]');
    expect(decodeClusterFact(encodeClusterFact(namespaceFact()).value)).toEqual(namespaceFact());
  });

  it.each([
    ["[]", "it is not an object"],
    ["{", "JSON"],
    ["null", "it is not an object"],
    [JSON.stringify({ ...workloadFact(), epoch: 1.5 }), "it.epoch is not a whole number"],
    [JSON.stringify({ ...workloadFact(), asks: undefined }), "it.asks is not a list"],
  ])("%s is refused with a sentence", (text, why) => {
    expect(decodeWorkload(Buffer.from(text))).toEqual({ invalid: expect.stringContaining(why) as string });
  });
});
