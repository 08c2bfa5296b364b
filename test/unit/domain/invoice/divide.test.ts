import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rational, type Rational } from "../../../../domain/exact/rational.ts";
import { formatAmount, roundToLastUnit, sum } from "../../../../domain/exact/units.ts";
import { divideCost, type NodeTime, type SpanCost } from "../../../../domain/invoice/divide.ts";
import { HOUR_MILLIS } from "../../../../domain/time.ts";

const MINUTE = HOUR_MILLIS / 60;

function nodeTime(node: string, from: number, until: number): NodeTime {
  return { cluster: "prod", node, uid: node, from: from * MINUTE, until: until * MINUTE };
}

function costOf(minutes: number, amount: number, machineHours?: Rational): SpanCost {
  const exact = rational(amount);
  const costs = { list: rational(2 * amount), contracted: exact, effective: exact };
  return { from: 0, until: minutes * MINUTE, machineHours, costs };
}

/** Returns `hour node amount` for each part. */
function textsOf(cost: SpanCost, nodes: readonly NodeTime[]): readonly string[] {
  return divideCost(cost, nodes).map(
    ({ hour, node, costs }) => `${hour / HOUR_MILLIS} ${node?.node ?? "outside"} ${formatAmount(costs.effective)}`,
  );
}

describe("the cost of a machine over a time", () => {
  it("belongs to its node for the node's time, and the rest is outside", () => {
    expect(textsOf(costOf(60, 12, rational(1)), [nodeTime("a", 15, 60)])).toEqual(["0 a 9", "0 outside 3"]);
  });

  it("is for the hours that were billed, not for the whole hour", () => {
    expect(textsOf(costOf(60, 12, rational(2, 3)), [nodeTime("a", 20, 50)])).toEqual(["0 a 9", "0 outside 3"]);
  });

  it("is the node's alone if the node was there for longer than was billed, or if nothing counts the hours", () => {
    expect(textsOf(costOf(60, 12, rational(1, 4)), [nodeTime("a", 0, 30)])).toEqual(["0 a 12"]);
    expect(textsOf(costOf(60, 12), [nodeTime("a", 0, 30)])).toEqual(["0 a 12"]);
  });

  it("of two nodes one after the other is divided by their times", () => {
    const nodes = [nodeTime("a", 0, 15), nodeTime("b", 15, 60)];
    expect(textsOf(costOf(60, 12, rational(1)), nodes)).toEqual(["0 a 3", "0 b 9"]);
  });

  it("of a day is outside in the hours in which the node has the least time", () => {
    const nodes = [nodeTime("a", 0, 60), nodeTime("a", 60, 90)];
    expect(textsOf(costOf(180, 30, rational(3)), nodes)).toEqual(["0 a 10", "1 a 5", "1 outside 5", "2 outside 10"]);
  });

  it("is outside, even over its span, without a node", () => {
    expect(textsOf(costOf(150, 5), [])).toEqual(["0 outside 2", "1 outside 2", "2 outside 1"]);
  });

  it("keeps a node whose cost is 0", () => {
    expect(textsOf(costOf(60, 0, rational(1)), [nodeTime("a", 0, 60)])).toEqual(["0 a 0"]);
  });

  it("keeps a credit that is larger than any cost", () => {
    expect(textsOf(costOf(60, -6, rational(1)), [nodeTime("a", 0, 40)])).toEqual(["0 a -4", "0 outside -2"]);
  });
});

it("the parts of any cost sum to its rounded amount, and none is outside its span", () => {
  const minute = fc.integer({ min: 0, max: 300 });
  const time = fc.tuple(minute, fc.integer({ min: 1, max: 120 })).map(([from, length]) => {
    // A time is within one hour.
    const until = Math.min(from + length, (Math.floor(from / 60) + 1) * 60);
    return nodeTime("a", from, until);
  });
  const exact = fc
    .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.bigInt({ min: 1n, max: 10n ** 12n }))
    .map(([num, den]) => rational(num, den));
  const hours = fc.option(
    fc.tuple(fc.nat(1_000_000), fc.integer({ min: 1, max: 1_000_000 })).map(([num, den]) => rational(num, den)),
    { nil: undefined },
  );
  fc.assert(
    fc.property(
      fc.array(time, { maxLength: 6 }),
      minute,
      fc.integer({ min: 1, max: 300 }),
      exact,
      hours,
      (...given) => {
        const [nodes, from, length, amount, machineHours] = given;
        const costs = { list: amount, contracted: amount, effective: amount };
        const cost = { from: from * MINUTE, until: (from + length) * MINUTE, machineHours, costs };
        const parts = divideCost(cost, nodes);
        expect(sum(parts.map((part) => part.costs.effective))).toBe(roundToLastUnit(amount));
        for (const { hour, node } of parts) {
          expect(hour + HOUR_MILLIS).toBeGreaterThan(cost.from);
          expect(hour).toBeLessThan(cost.until);
          expect(node === undefined || (node.from >= cost.from && node.until <= cost.until)).toBe(true);
        }
      },
    ),
  );
});
