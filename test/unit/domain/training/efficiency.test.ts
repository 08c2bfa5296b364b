import { describe, expect, it } from "vitest";
import { exactDecimal, roundedDecimal } from "../../../../domain/exact/rational.ts";
import { amountOf, formatAmount } from "../../../../domain/exact/units.ts";
import { amountsOf } from "../../../../domain/training/bill.ts";
import { efficiencyOf, type TensorTime } from "../../../../domain/training/efficiency.ts";
import type { TrainingMarks } from "../../../../domain/training-marks.ts";
import type { RunPhase } from "../../../../domain/training/phases.ts";
import type { ProgressPoint } from "../../../../domain/training/progress.ts";
import { timelineOf } from "../../../../domain/training/timeline.ts";
import { clock, runPod } from "../../../support/training/pods.ts";

const hours = (text: string) => amountsOf([amountOf(text), 0n, 0n, 0n, 0n, 0n, 0n, 0n]);
/** One H100 for ten hours at 4.00, of which it trained eight, an hour of them idle. */
const RUN = {
  phases: new Map<RunPhase, ReturnType<typeof hours>>([
    ["starting", hours("2")],
    ["productive", hours("7")],
    ["idle", hours("1")],
  ]),
  cost: amountOf<"currency">("40"),
  models: [{ model: "NVIDIA-H100-80GB-HBM3", gpuHours: amountOf<"gpu-hour">("10") }],
};
const step = (at: string, value: number): ProgressPoint => ({
  at: clock(at),
  source: "annotation",
  pod: "p",
  step: value,
});
const ask = (marks: TrainingMarks, points: readonly ProgressPoint[] = [], tensor?: TensorTime, run = RUN) => {
  const timelines = [
    timelineOf([runPod("w", ["08:00", "10:00", "18:00", "completed"])], { points, faults: [], intervals: {} }),
  ];
  return efficiencyOf(run, { marks, points, timelines, until: clock("18:00") }, tensor);
};

describe("the efficiency of a run", () => {
  it("is the cost of 10^18 useful operations, from steps, tokens and parameters", () => {
    // 1,000 steps of 4,096 tokens, 10^9 parameters: 6 × 10^9 × 4,096,000 = 2.4576 × 10^16 operations for 40.00.
    // 40.00 ÷ 0.024576 = 1627.604166666…; the peak in 8 h is 989 × 10^12 × 28,800 = 2.848 × 10^19.
    const found = ask({ tokensPerStep: 4_096, parameters: 1e9 }, [step("10:00", 500), step("18:00", 1_500)])!;
    expect(found).toMatchObject({ basis: "tokens", flops: 24_576_000_000_000_000n, tokens: 4_096_000n });
    expect(formatAmount(found.costPerExaflop)).toBe("1627.604166667");
    expect(roundedDecimal(found.ofPeak!, 6)).toBe("0.000863");
  });

  it("counts the work of lost steps once", () => {
    const points = [step("10:00", 0), step("12:00", 1_000), step("13:00", 600), step("18:00", 1_000)];
    expect(ask({ tokensPerStep: 1, parameters: 1 }, points)!.tokens).toBe(1_000n);
  });

  it("takes a reported rate over the time in which the run trained, if there are no steps", () => {
    // From 10:00 to 18:00 are 28,800 s.
    expect(ask({ tokensPerSecond: 0.5, parameters: 7 })!.tokens).toBe(14_400n);
  });

  it("has no part of a peak that is not known", () => {
    const unknown = { ...RUN, models: [{ model: "Unknown 1", gpuHours: amountOf<"gpu-hour">("10") }] };
    expect(ask({ tokensPerSecond: 1, parameters: 7 }, [], undefined, unknown)!.ofPeak).toBeUndefined();
    expect(ask({}, [], { coveredMillis: 10n, busyMillis: 5n }, unknown)).toBeUndefined();
  });

  it("has the peak of the mean GPU of several models", () => {
    const models = [...RUN.models, { model: "NVIDIA-A100-SXM4-80GB", gpuHours: amountOf<"gpu-hour">("10") }];
    const one = ask({ tokensPerSecond: 1e9, parameters: 1e6 })!.ofPeak!;
    const two = ask({ tokensPerSecond: 1e9, parameters: 1e6 }, [], undefined, { ...RUN, models })!.ofPeak!;
    // (989 + 312) ÷ 2 = 650.5.
    expect(two.num * one.den * 1301n).toBe(one.num * two.den * 1978n);
  });

  it("is an upper bound from the tensor pipes without tokens", () => {
    // A quarter of ten hours: 9,000 s × 989 × 10^12 = 8.901 × 10^18 operations for 40.00.
    const found = ask({ parameters: 7e9 }, [], { coveredMillis: 36_000_000n, busyMillis: 9_000_000n })!;
    expect(found).toMatchObject({ basis: "upper-bound", flops: 8_901_000_000_000_000_000n, tokens: undefined });
    expect(exactDecimal(found.ofPeak!, 2)).toBe("0.25");
    expect(formatAmount(found.costPerExaflop)).toBe("4.493877092");
  });

  it("is not known without tokens and tensor activity", () => {
    expect(ask({ parameters: 7e9 })).toBeUndefined();
    expect(ask({ tokensPerStep: 5, parameters: 7 }, [step("10:00", 3), step("11:00", 3)])).toBeUndefined();
    expect(ask({}, [], { coveredMillis: 5n, busyMillis: 0n })).toBeUndefined();
  });
});
