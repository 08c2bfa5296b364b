import { describe, expect, it } from "vitest";
import { outcomeOf, type DailyCosts } from "../../../../domain/advice/came-true.ts";
import { amountOf, formatAmount, type Money } from "../../../../domain/exact/units.ts";
import { DAY_MILLIS } from "../../../../domain/time.ts";

const money = (text: string): Money => amountOf(text);
/** Costs of days from the first one on. */
const days = (...costs: readonly string[]): DailyCosts =>
  new Map(costs.map((cost, day) => [day * DAY_MILLIS, money(cost)]));
const repeated = (cost: string, times: number): readonly string[] => Array.from({ length: times }, () => cost);

/** A card of 7 days that promised 84 USD, 0.50 an hour. The eighth day is the day of the change. */
const PROMISED = { window: { from: 0, until: 7 * DAY_MILLIS }, owner: money("84"), changedAt: 8 * DAY_MILLIS };
const until = (day: number): number => day * DAY_MILLIS;

describe("the outcome of a change", () => {
  it("is what came of the promise, per hour", () => {
    // 24 USD a day before, 1.00 an hour; 12 and 10.8 after.
    const costs = days(...repeated("24", 7), "20", "12", "12", "10.8", "10.8");
    const outcome = outcomeOf(PROMISED, costs, { similar: [], until: until(12) })!;
    expect(
      Object.fromEntries(
        Object.entries(outcome).map(([name, of]) => [name, typeof of === "bigint" ? formatAmount(of as Money) : of]),
      ),
    ).toEqual({
      promised: "0.5",
      before: "1",
      after: "0.475",
      expected: "1",
      came: "0.525",
      least: "0.5",
      most: "0.55",
      days: 4,
      similar: 0,
      verdict: "came-true",
    });
  });

  it("counts only what similar workloads did not save too", () => {
    // The price fell by half for everybody: nothing came of the change.
    const costs = days(...repeated("24", 7), "20", ...repeated("12", 4));
    const similar = [days(...repeated("48", 7), "30", ...repeated("24", 4)), days(...repeated("2", 7))];
    const outcome = outcomeOf(PROMISED, costs, { similar, until: until(12) })!;
    expect([formatAmount(outcome.expected), formatAmount(outcome.came)]).toEqual(["0.5", "0"]);
    // The second one ended, so it is not similar.
    expect(outcome).toMatchObject({ similar: 1, verdict: "gone" });
  });

  it.each([
    ["12", "came-true"],
    ["18", "came-true"],
    ["20", "partly"],
    ["24", "gone"],
    ["30", "gone"],
  ])("with a cost of %s a day after 24 a day is: %s", (cost, verdict) => {
    const costs = days(...repeated("24", 8), ...repeated(cost, 3));
    expect(outcomeOf(PROMISED, costs, { similar: [], until: until(11) })).toMatchObject({ verdict });
  });

  it("is not judged before three days, and not there before one", () => {
    const costs = days(...repeated("24", 8), "0.5", "0.5");
    expect(outcomeOf(PROMISED, costs, { similar: [], until: until(10) })).toMatchObject({
      verdict: "too-early",
      days: 2,
    });
    expect(outcomeOf(PROMISED, costs, { similar: [], until: until(8) })).toBeUndefined();
  });

  it("of a workload that ended is all that it cost", () => {
    const outcome = outcomeOf(PROMISED, days(...repeated("24", 7)), { similar: [], until: until(11) })!;
    expect([formatAmount(outcome.came), outcome.verdict]).toEqual(["1", "came-true"]);
  });
});
