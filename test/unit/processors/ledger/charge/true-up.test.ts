import { describe, expect, it } from "vitest";
import { lastUnits } from "../../../../../domain/exact/units.ts";
import { DEFAULT_POLICY } from "../../../../../domain/policy/policy.ts";
import { trueUpCharges } from "../../../../../processors/ledger/charge/true-up.ts";

const MARCH = { from: Date.UTC(2026, 2, 1), until: Date.UTC(2026, 3, 1) };
const trueUp = (difference: bigint) => ({
  cluster: "",
  instanceType: "p4d.24xlarge",
  capacityType: "spot",
  difference: lastUnits<"currency">(difference),
  key: "invoice[2]",
});
const spreading = { payers: { ...DEFAULT_POLICY.payers, unallocated: "spread" } } as const;
const weights = {
  weighed: [
    { team: "nlp", costCenter: "", weight: 1n },
    { team: "vision", costCenter: "7", weight: 2n },
  ],
  isRefused: false,
};
const words = (...given: Parameters<typeof trueUpCharges>): readonly string[] =>
  trueUpCharges(...given).map(
    ({ team, costCenter, payer, costs }) => `${payer} ${team} ${costCenter} ${costs?.effective}`,
  );

describe("a true-up", () => {
  it("belongs to the platform under a policy that spreads nothing, over the whole period, without GPU-hours", () => {
    expect(trueUpCharges(trueUp(10n), MARCH, DEFAULT_POLICY, weights)).toMatchObject([
      {
        fromMillis: MARCH.from,
        untilMillis: MARCH.until,
        state: "true-up",
        node: "",
        slot: undefined,
        gpuHours: 0n,
        payer: "platform",
        team: "platform",
        instanceType: "p4d.24xlarge",
        capacityType: "spot",
        costs: { list: 0n, contracted: 0n, effective: 10n },
        trail: { price: "invoice[2]" },
      },
    ]);
  });

  it("goes to the holders of such machines under a policy that spreads, as a charge or a credit", () => {
    expect(words(trueUp(10n), MARCH, spreading, weights)).toEqual(["holder nlp  3", "holder vision 7 7"]);
    expect(words(trueUp(-10n), MARCH, spreading, weights)).toEqual(["holder nlp  -3", "holder vision 7 -7"]);
  });

  it("stays with the platform if such machines have no holder, or if their holders have no price", () => {
    expect(words(trueUp(10n), MARCH, spreading, { weighed: [], isRefused: false })).toEqual(["platform platform  10"]);
    expect(words(trueUp(10n), MARCH, spreading, { weighed: [], isRefused: true })).toEqual(["platform platform  10"]);
  });

  it("has no line if the invoiced cost equals the computed cost", () => {
    expect(trueUpCharges(trueUp(0n), MARCH, spreading, weights)).toEqual([]);
  });
});
