import { describe, expect, it } from "vitest";
import type { Proposal } from "../../../../domain/advice/card.ts";
import type { WorkloadEvidence } from "../../../../domain/advice/evidence.ts";
import { withPartners } from "../../../../domain/advice/partners.ts";

interface Given {
  readonly name: string;
  /** The highest activity of each hour, percent. */
  readonly peaks: readonly number[];
  readonly memoryMiB?: number;
  readonly team?: string;
  readonly model?: string;
}

/** Returns the proposals for fractions of L4 GPUs of 24,576 MiB after they have their partners. */
function shared(given: readonly Given[], change: object = { to: { fraction: 0.5 } }): readonly Proposal[] {
  const proposals = given.map(({ name, peaks, memoryMiB = 1_000, team = "vision", model = "NVIDIA-L4" }) => {
    const workload = {
      namespace: team,
      kind: "Deployment",
      workload: name,
      team,
      pods: [{ devices: [{ model, memoryMiB: 24_576 }] }],
      hours: peaks.map((peak) => ({ maxPpm: peak * 10_000, memoryMaxMiB: memoryMiB })),
    } as unknown as WorkloadEvidence;
    const proposal = { kind: "smaller-part", changes: [change], figures: [], doubts: [] } as unknown as Proposal;
    return [proposal, workload] as const;
  });
  return [...withPartners(new Map(proposals), { headroom: 0.15 }).keys()];
}

const LONELY = "No other workload of the team fits onto the rest of the GPU.";

describe("a proposal for a fraction of a GPU", () => {
  it("names the workloads whose peaks of the same hours fit, the lowest first", () => {
    const [day] = shared([
      { name: "day", peaks: [70, 10], memoryMiB: 5_120 },
      // Its own peak is as high, in another hour.
      { name: "night", peaks: [10, 70], memoryMiB: 10_240 },
      { name: "quiet", peaks: [5, 5] },
      { name: "busy", peaks: [20, 20] },
    ]);
    expect(day!.figures).toEqual([
      {
        name: "2 workloads for the rest of the GPU",
        value: "vision/quiet (peak 75.0 %, 6.0 GiB), vision/night (peak 80.0 %, 15.0 GiB)",
      },
    ]);
    expect(day!.doubts).toEqual([]);
  });

  it.each<[string, Given]>([
    ["its activity does not fit with headroom", { name: "b", peaks: [57] }],
    ["its memory does not fit with headroom", { name: "b", peaks: [10], memoryMiB: 20_400 }],
    ["it belongs to another team, whose names others may not see", { name: "b", peaks: [10], team: "nlp" }],
    ["it is on another model", { name: "b", peaks: [10], model: "Tesla-T4" }],
  ])("does not name a workload if %s", (_, other) => {
    const [found] = shared([{ name: "a", peaks: [30] }, other]);
    expect([found!.figures, found!.doubts]).toEqual([[], [LONELY]]);
  });

  it("names a workload at the limit of the activity and of the memory", () => {
    // 86.9 % and 21,370 MiB with 15 % of headroom are 99.9 % and 24,575.5 MiB.
    const [found] = shared([
      { name: "a", peaks: [30] },
      { name: "b", peaks: [56.9], memoryMiB: 20_370 },
    ]);
    expect(found!.doubts).toEqual([]);
  });

  it("names at most three workloads", () => {
    const [first] = shared(["a", "b", "c", "d", "e"].map((name) => ({ name, peaks: [10] })));
    expect(first!.figures.map(({ name }) => name)).toEqual(["3 workloads for the rest of the GPU"]);
    expect(first!.figures[0]!.value).toContain("vision/b");
    expect(first!.figures[0]!.value).not.toContain("vision/e");
  });

  it("is not changed if it is for a MIG instance", () => {
    const [found] = shared([{ name: "a", peaks: [10] }], { to: { mig: "1g.5gb" } });
    expect([found!.figures, found!.doubts]).toEqual([[], []]);
  });
});
