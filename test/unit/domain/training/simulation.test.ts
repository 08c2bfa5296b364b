import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { billOf, sumAmounts, type LaneCharge } from "../../../../domain/training/bill.ts";
import { runsOf } from "../../../../domain/training/identity.ts";
import { lanesOf } from "../../../../domain/training/lanes.ts";
import { RUN_PHASES } from "../../../../domain/training/phases.ts";
import { timelineOf } from "../../../../domain/training/timeline.ts";
import { rounds } from "../../../support/rounds.ts";
import { amountsOfTenths, runPlan, simulate, type SimulatedRun } from "../../../support/training/simulation.ts";

const RULES = { keys: [], gapMillis: 3_600_000 };
const EVERY = 400 * 9_000;

function timelinesOf({ facts, points }: SimulatedRun) {
  const runs = runsOf(facts, RULES);
  expect(runs).toHaveLength(1);
  return lanesOf(runs[0]!).map((lane) => timelineOf(lane, { points, faults: [], intervals: { configured: EVERY } }));
}

const without0 = (entries: Iterable<readonly [string, number]>) =>
  Object.fromEntries(
    [...entries].filter(([, tenths]) => tenths !== 0).map(([name, tenths]) => [name, amountsOfTenths(tenths)]),
  );

describe("the bill of a simulated run", () => {
  it("has each phase and each loss of the simulation, to the last digit", () => {
    fc.assert(
      fc.property(runPlan, (plan) => {
        const run = simulate(plan, EVERY);
        const timelines = timelinesOf(run);
        const bill = billOf(run.charges, timelines);
        const found = RUN_PHASES.flatMap((phase) => {
          const parts = bill.filter((part) => part.phase === phase && part.amounts.gpuHours !== 0n);
          return parts.length === 0 ? [] : [[phase, sumAmounts(parts.map(({ amounts }) => amounts))]];
        });
        expect(Object.fromEntries(found)).toEqual(without0(run.tenths));
        run.lostTenths.forEach((tenths, stop) => {
          const lost = bill.filter((part) => part.stop === stop && part.phase.startsWith("lost"));
          expect(sumAmounts(lost.map(({ amounts }) => amounts))).toEqual(amountsOfTenths(tenths));
        });
      }),
      { numRuns: rounds(1_000) },
    );
  });

  it("sums exactly to any charges, whatever their rounding", () => {
    const odd = fc.bigInt(-(10n ** 15n), 10n ** 15n);
    fc.assert(
      fc.property(runPlan, fc.array(odd, { minLength: 8, maxLength: 8 }), (plan, amounts) => {
        const run = simulate(plan, EVERY);
        const charges = run.charges.map((charge, index): LaneCharge => {
          const own = Object.entries(charge.amounts as object as Record<string, bigint>);
          const changed = own.map(([name, amount], each) => [name, amount + amounts[(each + index) % 8]!]);
          return { ...charge, amounts: Object.fromEntries(changed) as unknown as LaneCharge["amounts"] };
        });
        const bill = billOf(charges, timelinesOf(run));
        expect(sumAmounts(bill.map((part) => part.amounts))).toEqual(sumAmounts(charges.map((each) => each.amounts)));
      }),
      { numRuns: rounds(300) },
    );
  });
});
