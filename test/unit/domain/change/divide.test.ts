import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { divideChange, type ChangeCell, type ChangeTerm } from "../../../../domain/change/divide.ts";
import { amountOf, formatAmount, lastUnits, sum, type Money } from "../../../../domain/exact/units.ts";

/** A cell of the team vision and its workload train, with the hours and the cost of a text such as `2 h × 3`. */
function cell(
  given: Partial<Omit<ChangeCell, "hours" | "cost">> & { readonly hours?: string; readonly cost: string },
): ChangeCell {
  const { hours = "0", cost, ...of } = given;
  return {
    team: "vision",
    holder: "train",
    price: "H100",
    model: "H100",
    state: "active",
    isCorrection: false,
    ...of,
    hours: amountOf(hours),
    cost: amountOf(cost),
  };
}

const words = (terms: readonly ChangeTerm[]): readonly string[] =>
  terms.map(({ team, holder, cause, cost }) => `${team} ${holder || "nobody"} ${cause} ${formatAmount(cost)}`);
const costOf = (cells: readonly { readonly cost: Money }[]): Money => sum(cells.map(({ cost }) => cost));

const cells = fc.array(
  fc.record({
    team: fc.constantFrom("vision", "nlp"),
    holder: fc.constantFrom("", "train", "serve"),
    price: fc.constantFrom("H100", "L4"),
    model: fc.constant("any"),
    state: fc.constantFrom("active", "idle"),
    isCorrection: fc.boolean(),
    hours: fc.oneof(fc.constant(0n), fc.bigInt(1n, 10n ** 15n)).map((hours) => lastUnits<"gpu-hour">(hours)),
    cost: fc.bigInt(-(10n ** 15n), 10n ** 15n).map((cost) => lastUnits<"currency">(cost)),
  }),
  { maxLength: 12 },
);

describe("the difference between two spans", () => {
  it("has the hours at the mean of both prices, and the prices at the mean of both hours", () => {
    // 10 h × 3 and 14 h × 4: 4 h at 3.50, and 1.00 more for 12 h.
    const terms = divideChange([cell({ hours: "10", cost: "30" })], [cell({ hours: "14", cost: "56" })]);
    expect(words(terms)).toEqual(["vision train hours 14", "vision train price 12"]);
  });

  it("has a mix if other models, states or prices have the hours", () => {
    // 10 h at 3.00 become 10 h, of which 5 h are at 1.00: no hour more, and each price is as it was.
    const terms = divideChange(
      [cell({ hours: "10", cost: "30" })],
      [cell({ hours: "5", cost: "15" }), cell({ model: "L4", price: "L4", hours: "5", cost: "5" })],
    );
    expect(words(terms)).toEqual(["vision train mix -10"]);
  });

  it("has a price if an entry of the price book takes the place of another one", () => {
    const terms = divideChange(
      [cell({ price: "H100 of March", hours: "10", cost: "30" })],
      [cell({ price: "H100 of April", hours: "10", cost: "40" })],
    );
    expect(words(terms)).toEqual(["vision train price 10"]);
  });

  it("has opposite movements both", () => {
    const terms = divideChange(
      [cell({ hours: "10", cost: "30" }), cell({ holder: "serve", hours: "10", cost: "30" })],
      [cell({ hours: "20", cost: "60" }), cell({ holder: "serve", hours: "0.5", cost: "1.5" })],
    );
    expect(words(terms)).toEqual(["vision train hours 30", "vision serve hours -28.5"]);
  });

  it("has holders that are new, gone, and of another owner than before", () => {
    const before = [
      cell({ holder: "old", hours: "1", cost: "3" }),
      cell({ holder: "moved", hours: "2", cost: "6" }),
      cell({ holder: "", state: "unallocated", hours: "1", cost: "2" }),
    ];
    const after = [
      cell({ holder: "fresh", hours: "3", cost: "9" }),
      cell({ team: "nlp", holder: "moved", hours: "2", cost: "6" }),
    ];
    expect(words(divideChange(before, after))).toEqual([
      "vision fresh new 9",
      "nlp moved moved-in 6",
      "vision moved moved-out -6",
      "vision old gone -3",
      "vision nobody gone -2",
    ]);
    // A question about one team has no cells of the others.
    const elsewhere = { before: new Set<string>(), after: new Set(["moved"]) };
    expect(words(divideChange(before, after.slice(0, 1), elsewhere))).toContain("vision moved moved-out -6");
    expect(words(divideChange(before, after.slice(0, 1)))).toContain("vision moved gone -6");
  });

  it("has corrections and costs without GPU-hours by themselves", () => {
    const before = [cell({ holder: "", state: "non-gpu", cost: "5" }), cell({ hours: "1", cost: "3" })];
    const after = [
      cell({ holder: "", state: "non-gpu", cost: "7" }),
      cell({ hours: "1", cost: "3" }),
      cell({ isCorrection: true, hours: "-1", cost: "-3" }),
    ];
    expect(words(divideChange(before, after))).toEqual(["vision train correction -3", "vision nobody other 2"]);
  });

  it("sums exactly to the difference of any cells, and to its opposite if the spans are exchanged", () => {
    fc.assert(
      fc.property(cells, cells, (before, after) => {
        const terms = divideChange(before, after);
        expect(costOf(terms)).toBe(costOf(after) - costOf(before));
        const opposite = { new: "gone", gone: "new", "moved-in": "moved-out", "moved-out": "moved-in" } as const;
        const back = divideChange(after, before).map(({ cause, cost, ...of }) => ({
          ...of,
          cause: opposite[cause as keyof typeof opposite] ?? cause,
          cost: lastUnits<"currency">(0n - cost),
        }));
        expect(new Set(words(back))).toEqual(new Set(words(terms)));
      }),
    );
  });

  it("does not depend on how lines are cut into cells", () => {
    fc.assert(
      fc.property(cells, cells, (before, after) => {
        const halves = before.flatMap((each) => [
          { ...each, hours: lastUnits<"gpu-hour">(each.hours / 2n), cost: lastUnits<"currency">(each.cost / 3n) },
          {
            ...each,
            hours: lastUnits<"gpu-hour">(each.hours - each.hours / 2n),
            cost: lastUnits<"currency">(each.cost - each.cost / 3n),
          },
        ]);
        expect(words(divideChange(halves, after))).toEqual(words(divideChange(before, after)));
      }),
    );
  });
});
