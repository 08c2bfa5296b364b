import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Charge } from "../../../../../domain/charge/charge.ts";
import { formatAmount } from "../../../../../domain/exact/units.ts";
import { chargeNode } from "../../../../../processors/ledger/charge/charge-node.ts";
import { absentHours } from "../../../../../processors/ledger/charge/absent-machines.ts";
import { listedMachines } from "../../../../../domain/price/fleet-costs.ts";
import { createNodePrices } from "../../../../../processors/ledger/charge/node-prices.ts";
import { standingCharges, type SlotSpan } from "../../../../../processors/ledger/charge/standing.ts";
import { readScenario } from "../../../../../scenarios/read.ts";
import { rulesOf } from "../../../../../scenarios/rules.ts";
import { inventoryFact } from "../../../../support/facts.ts";
import { HOUR_MILLIS as HOUR } from "../../../../../domain/time.ts";

const START = Date.UTC(2026, 2, 2);
const HOUR_OF_START = { from: START, until: START + HOUR };

/** The rules of a configuration, written as a scenario without a fleet. */
function rules(text: string) {
  const head = "title: rules\nperiod: { start: 2026-03-02T00:00:00Z, end: 2026-03-02T01:00:00Z }\n";
  const { book, owners, policies } = rulesOf(readScenario(head + text, "rules"));
  return { book, prices: createNodePrices(book), owners, policies };
}

function slotOf(slot: number, given: Partial<SlotSpan> = {}): SlotSpan {
  return {
    cluster: "prod",
    node: "gpu-a",
    model: "NVIDIA-L4",
    machine: { machine: "m", appearedAt: START, since: START, delivered: 2, pool: "l4", labels: {} },
    slot,
    ...HOUR_OF_START,
    ...given,
  };
}

const words = (charges: readonly Charge[]): readonly string[] =>
  charges.map(
    ({ state, costs, trail }) => `${state} ${trail.price} ${costs === undefined ? "?" : formatAmount(costs.effective)}`,
  );

describe("an unused cost", () => {
  it("of a commitment for a quantity is the part for which there is no GPU", () => {
    const { book, prices } = rules(`
commitments: [{ from: 2026-01-01, until: 2027-01-01, amount: "8", per: hour, scope: { pool: l4 }, quantity: 4 }]`);
    // 2 of 4 GPUs are there for the hour, a third one for a quarter of it: 4 − 2.25 = 1.75 GPUs, 8 × 1.75 ÷ 4 = 3.5.
    const slots = [slotOf(0), slotOf(1), slotOf(0, { node: "gpu-b", until: START + HOUR / 4 })];
    expect(words(standingCharges(book, prices, slots, HOUR_OF_START))).toEqual([
      "unused commitment commitment l4 from 2026-01-01 3.5",
    ]);
    const others = slots.map((slot) => ({ ...slot, machine: { ...slot.machine, pool: "h100" } }));
    expect(words(standingCharges(book, prices, others, HOUR_OF_START))).toEqual([
      "unused commitment commitment l4 from 2026-01-01 8",
    ]);
    const more = [0, 1, 2, 3, 4].map((slot) => slotOf(slot));
    expect(standingCharges(book, prices, more, HOUR_OF_START)).toEqual([]);
  });

  it("of a commitment to spend is the amount that its scope does not reach", () => {
    const { book, prices } = rules(`
prices: [{ match: { pool: l4 }, from: 2026-01-01, per: gpu-hour, effective: "1.5" }]
commitments: [{ from: 2026-01-01, until: 2027-01-01, amount: "4", per: hour, scope: { cluster: prod } }]`);
    expect(words(standingCharges(book, prices, [slotOf(0), slotOf(1)], HOUR_OF_START))).toEqual([
      "unused commitment commitment prod from 2026-01-01 1",
    ]);
    expect(standingCharges(book, prices, [slotOf(0), slotOf(1), slotOf(2)], HOUR_OF_START)).toEqual([]);
  });

  it("of a fixed cost without a quantity is all of it, for the part of the hour in which it is due, in every kind of cost", () => {
    const { book, prices } = rules(`
rates: [{ from: 2026-01-01, currency: EUR, rate: "1.25" }]
fixed: [{ from: 2026-03-02T00:30:00Z, amount: "744", per: month, currency: EUR }]`);
    // 744 EUR over the 744 hours of March, half an hour of it: 0.5 EUR = 0.625 USD.
    const [charge] = standingCharges(book, prices, [slotOf(0)], HOUR_OF_START);
    expect(charge).toMatchObject({ fromMillis: START + HOUR / 2, payer: "platform", team: "platform" });
    expect(Object.values(charge!.costs!).map(formatAmount)).toEqual(["0.625", "0.625", "0.625"]);
  });

  it("plus the used cost is the due cost, for any changes of the fleet", () => {
    const { book, prices } = rules(`
commitments: [{ from: 2026-01-01, until: 2027-01-01, amount: "7", per: hour, scope: {}, quantity: 3 }]`);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: HOUR }), fc.integer({ min: 0, max: HOUR })), { maxLength: 6 }),
        (spans) => {
          const slots = spans.map(([a, b], slot) =>
            slotOf(slot, { from: START + Math.min(a, b), until: START + Math.max(a, b) }),
          );
          const there = slots.reduce((sum, { from, until }) => sum + BigInt(until - from), 0n);
          const [charge] = standingCharges(book, prices, slots, HOUR_OF_START);
          const unused = charge?.costs?.effective ?? 0n;
          const free = 3n * BigInt(HOUR) - there;
          // Within one last unit of 7 × free ÷ (3 hours).
          const error = unused * 3n * BigInt(HOUR) - 7_000_000_000n * (free > 0n ? free : 0n);
          expect(error < 3n * BigInt(HOUR) && -error < 3n * BigInt(HOUR)).toBe(true);
        },
      ),
    );
  });
});

describe("a machine that the book lists", () => {
  const OWNED = `
prices:
  - from: 2026-01-01
    delivered: 2
    owned: { inService: 2026-03-02T00:15:00Z, purchase: "44640", months: 1, machines: [dgx-1] }`;

  it("is unavailable, because absent, from its service on, before its first sample", () => {
    const { book, ...rest } = rules(OWNED);
    expect(listedMachines(book)).toEqual(["dgx-1"]);
    const hours = absentHours(book, [{ node: "dgx-1", seen: undefined }], [slotOf(0)], HOUR_OF_START);
    expect(hours.map(({ slot, segment: { fromMillis, untilMillis } }) => [slot, fromMillis, untilMillis])).toEqual([
      [0, START + HOUR / 4, START + HOUR],
      [1, START + HOUR / 4, START + HOUR],
    ]);
    // 44,640 over the 744 hours of March is 60 an hour, 45 for three quarters of one, 22.5 for each GPU.
    const { charges } = chargeNode(hours, rest);
    expect(
      charges[0]!.map(({ state, because, gpuHours, costs }) => [
        state,
        because,
        formatAmount(gpuHours),
        formatAmount(costs!.effective),
      ]),
    ).toEqual([
      ["unavailable", "absent", "0.75", "22.5"],
      ["unavailable", "absent", "0.75", "22.5"],
    ]);
  });

  it("is absent only in the gaps, and never after it was retired", () => {
    const { book } = rules(OWNED.replace("months: 1", "months: 1, retired: 2026-03-02T00:50:00Z"));
    const there = [0, 1].map((slot) =>
      slotOf(slot, { node: "dgx-1", from: START + HOUR / 3, until: START + HOUR / 2 }),
    );
    const hours = absentHours(book, [{ node: "dgx-1", seen: undefined }], there, HOUR_OF_START);
    const minutes = hours.map(({ slot, segment }) => [
      slot,
      (segment.fromMillis - START) / 60_000,
      (segment.untilMillis - START) / 60_000,
    ]);
    expect(minutes).toEqual([
      [0, 15, 20],
      [1, 15, 20],
      [0, 30, 50],
      [1, 30, 50],
    ]);
  });

  it("has the highest number of GPUs that was ever seen if its entry has no number", () => {
    const { book } = rules(OWNED.replace("    delivered: 2\n", ""));
    const of = (gpus: number | undefined) => {
      const seen = gpus === undefined ? undefined : { cluster: "prod", gpus, fact: inventoryFact({ node: "dgx-1" }) };
      return absentHours(book, [{ node: "dgx-1", seen }], [], HOUR_OF_START).length;
    };
    expect([of(8), of(undefined)]).toEqual([8, 1]);
  });
});
