import { describe, expect, it } from "vitest";
import { CHARGE_STATES } from "../../../../domain/charge/charge.ts";
import { amountOf } from "../../../../domain/exact/units.ts";
import { minorUnitOf, roundedChanges, roundedColumn } from "../../../../reports/format/rounded.ts";
import { chargeColumns } from "../../../../reports/parts/charge-columns.tsx";
import type { ReportRow } from "../../../../reports/report/report.ts";

/** An amount of money in a link. */
interface Linked {
  readonly props: { readonly children: { readonly props: { readonly amount: string } } };
}

const CENT = minorUnitOf("USD");
const amounts = (...texts: readonly string[]) => texts.map((text) => amountOf<"currency">(text));

describe("changes as printed", () => {
  it("are the printed amounts minus the printed earlier ones, in each row and in the sum", () => {
    const [now, before] = [amounts("10.004", "-31.675", "2.0049"), amounts("0.0049", "0", "1.0009")];
    expect(roundedColumn(now, CENT)).toEqual(["10.00", "-31.67", "2.00", "-19.67"]);
    expect(roundedColumn(before, CENT)).toEqual(["0.01", "0.00", "1.00", "1.01"]);
    expect(roundedChanges(now, before, CENT)).toEqual(["9.99", "-31.67", "1.00", "-20.68"]);
  });

  it("agree for random amounts", () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    const column = (): ReturnType<typeof amounts> =>
      amounts(...Array.from({ length: 12 }, () => (random() * 200 - 50).toFixed(7)));
    const cents = (text: string | undefined): number => Math.round(Number(text) * 100);
    for (let round = 0; round < 200; round += 1) {
      const [now, before] = [column(), column()];
      const [printed, earlier, changes] = [
        roundedColumn(now, CENT),
        roundedColumn(before, CENT),
        roundedChanges(now, before, CENT),
      ];
      changes.forEach((change, row) => expect(cents(change)).toBe(cents(printed[row]) - cents(earlier[row])));
      expect(changes.slice(0, -1).reduce((sum, change) => sum + cents(change), 0)).toBe(cents(changes.at(-1)));
    }
  });
});

it("the columns of states have the cost of every state once", () => {
  const states = Object.fromEntries(CHARGE_STATES.map((state, index) => [state, String(2 ** index)]));
  const row = { cost: "0", gpuHours: "0", states } as ReportRow;
  const [, , ...columns] = chargeColumns([row], "USD", () => "/explain");
  const cost = columns.map(({ foot }) => (foot as Linked).props.children.props.amount);
  expect(cost.reduce((sum, amount) => sum + Number(amount), 0)).toBe(2 ** CHARGE_STATES.length - 1);
  expect(columns.map(({ head }) => head)).toEqual([
    "active",
    "idle",
    "waiting",
    "starting",
    "unobserved",
    "not held",
    "adjusted",
  ]);
});
