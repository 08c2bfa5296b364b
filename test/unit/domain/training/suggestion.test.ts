import { describe, expect, it } from "vitest";
import { amountsOf, sumAmounts } from "../../../../domain/training/bill.ts";
import type { RunPhase } from "../../../../domain/training/phases.ts";
import type { ProgressPoint } from "../../../../domain/training/progress.ts";
import type { RunReport, StopCost } from "../../../../domain/training/report.ts";
import type { NodeSignal } from "../../../../domain/training/signals.ts";
import { suggestionOf } from "../../../../domain/training/suggestion.ts";
import { clock, fault } from "../../../support/training/pods.ts";

const money = (units: number, hours = units) => amountsOf([BigInt(hours), 0n, 0n, 0n, BigInt(units), 0n, 0n, 0n]);

function reportWith(
  phases: Partial<Record<RunPhase, number>>,
  stops: readonly { readonly at: string; readonly fault?: NodeSignal; readonly cost?: number }[] = [],
  isPriced = true,
): RunReport {
  const amounts = Object.entries(phases).map(
    ([phase, units]) => [phase as RunPhase, isPriced ? money(units) : money(0, units)] as const,
  );
  return {
    run: { begun: clock("00:00") },
    total: sumAmounts(amounts.map(([, amount]) => amount)),
    phases: new Map(amounts),
    stops: stops.map(
      ({ at, cost = 0, ...stop }) => ({ stop: { ...stop, at: clock(at) }, total: money(cost) }) as unknown as StopCost,
    ),
  } as unknown as RunReport;
}

const saved = (at: string, seconds: number): ProgressPoint => ({
  at: clock(at),
  source: "annotation",
  pod: "p",
  checkpoint: { at: clock(at), ...(seconds === 0 ? {} : { seconds }) },
});

describe("the suggestion for a run", () => {
  it("is about the part with the highest cost", () => {
    expect(suggestionOf(reportWith({ productive: 500, waiting: 20, idle: 30, starting: 10 }), [])).toMatchObject({
      about: "idle",
      atStake: money(30),
    });
  });

  it("is about the most GPU-hours if nothing has a price", () => {
    expect(suggestionOf(reportWith({ productive: 500, waiting: 20 }, [], false), [])?.about).toBe("waiting");
  });

  it("is absent if each part is below 1 % of the cost", () => {
    expect(suggestionOf(reportWith({ productive: 991, waiting: 9 }), [])).toBeUndefined();
    expect(suggestionOf(reportWith({ productive: 990, waiting: 10 }), [])?.about).toBe("waiting");
    expect(suggestionOf(reportWith({}), [])).toBeUndefined();
  });

  it("has the best interval of checkpoints if their duration and the stops are known", () => {
    // Two stops in 8 hours are one every 4 h = 14,400 s. √(2 × 50 s × 14,400 s) = 1,200 s = 20 min.
    const report = reportWith({ productive: 50, lost: 50 }, [{ at: "04:00" }, { at: "08:00" }]);
    const points = [saved("01:00", 50), saved("03:00", 50), saved("05:00", 50)];
    expect(suggestionOf(report, points)?.text).toBe(
      "Checkpoints came every 2.0 h, and the run stopped every 4.0 h. Checkpoints of 50 s cost least every 20 min (Young's formula).",
    );
    const often = [saved("01:00", 50), saved("01:10", 50), saved("01:20", 50)];
    expect(suggestionOf(report, often)?.text).toContain("which fits the stops");
    expect(suggestionOf(report, [saved("01:00", 0), saved("02:00", 0)])?.text).toContain("Write them more often");
    expect(suggestionOf(report, [])?.text).toContain("Write checkpoints, and report them");
  });

  it("asks for reports if lost progress is estimated", () => {
    expect(suggestionOf(reportWith({ productive: 50, "lost-estimated": 50 }), [])?.text).toContain(
      "gpu-ledger/checkpoint-at",
    );
  });

  it("names a node that stopped the run more than once, with all of its cost", () => {
    const stops = [
      { at: "04:00", fault: fault("gpu-a", "04:00"), cost: 30 },
      { at: "06:00", fault: fault("gpu-a", "06:00", { code: "48" }), cost: 30 },
      { at: "08:00", fault: fault("gpu-b", "08:00"), cost: 1 },
    ];
    expect(suggestionOf(reportWith({ productive: 900, recovering: 50, lost: 50 }, stops), [])).toEqual({
      about: "node",
      text: "Take the node gpu-a out of service: it stopped the run 2 times (XID 79 on GPU 0, XID 48 on GPU 0).",
      atStake: money(60),
    });
  });

  it("names the slowest straggler if the gang lost most by it", () => {
    const slowest = {
      node: "gpu-a",
      gpu: "3",
      pod: "w",
      measure: "clock",
      slowHours: 5,
      hours: 6,
      ofMedian: 0.8,
    } as const;
    expect(suggestionOf(reportWith({ productive: 900, idle: 50 }), [], { slowest, cost: money(180) })).toEqual({
      about: "straggler",
      text: "Look at GPU 3 of gpu-a: its clock is 20 % below the median of the gang, and the gang waits for it.",
      atStake: money(180),
    });
  });
});
