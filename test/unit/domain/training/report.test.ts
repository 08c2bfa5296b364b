import { describe, expect, it } from "vitest";
import type { Run } from "../../../../domain/training/identity.ts";
import { isCalm, layOut } from "../../../../domain/training/layout.ts";
import type { ProgressPoint } from "../../../../domain/training/progress.ts";
import { reportOf } from "../../../../domain/training/report.ts";
import type { RunPod } from "../../../../domain/training/run-pod.ts";
import { clock, runPod } from "../../../support/training/pods.ts";

const HOUR = 3_600_000;
const NOW = clock("20:00");

function runWith(pods: readonly RunPod[], more: Partial<Run> = {}): Run {
  return {
    cluster: "c",
    namespace: "n",
    kind: "Job",
    name: "train",
    id: "c/n/Job/train@2026-03-02T08:00:00.000Z",
    begun: clock("08:00"),
    ended: pods.reduce((latest, { end }) => Math.max(latest, end?.at ?? Infinity), -Infinity),
    isGang: true,
    object: { apiVersion: "jobset.x-k8s.io/v1alpha2", kind: "JobSet", name: "train", uid: "job" },
    owners: new Set(["job"]),
    marks: {},
    pods,
    ...more,
  };
}

const report = (run: Run) => reportOf(run, layOut(run, { points: [], faults: [], configured: undefined }), [], NOW);

describe("the report of a run", () => {
  it.each<readonly [string, readonly RunPod[]]>([
    ["running", [runPod("a", ["08:00", "08:01"]), runPod("b", ["08:00", "08:01", "09:00"])]],
    ["succeeded", [runPod("a", ["08:00", "08:01", "09:00", "completed"])]],
    [
      "succeeded",
      [runPod("a", ["08:00", "08:01", "09:00", "completed"]), runPod("b", ["08:00", "08:01", "09:01", "deleted"])],
    ],
    ["failed", [runPod("a", ["08:00", "08:01", "09:00"])]],
    ["failed", [runPod("a", ["08:00", "08:01", "09:00", "evicted"])]],
    ["ended", [runPod("a", ["08:00", "08:01", "09:00", "deleted"])]],
  ])("has the outcome %s", (outcome, pods) => {
    expect(report(runWith(pods)).outcome).toBe(outcome);
  });

  it("counts the time in which pods existed and none was bound", () => {
    const waiting = { created: clock("08:00"), bound: clock("09:30") };
    const pods = [
      runPod("a", ["08:00", "09:40", "10:00"], waiting),
      runPod("b", ["08:00", "09:40", "10:00"], { ...waiting, bound: clock("09:00") }),
      runPod("a", ["10:30", "11:00"], { bound: clock("10:45") }),
    ];
    // 08:00 to 09:00 and 10:30 to 10:45.
    expect(report(runWith(pods)).queuedMillis).toBe(1.25 * HOUR);
  });

  it("counts the time until now for a pod that still waits", () => {
    const { bound: _, ...pod } = runPod("a", ["19:00"]);
    expect(report(runWith([pod])).queuedMillis).toBe(HOUR);
  });
});

describe("the lanes of a run", () => {
  const saved = (at: string, pod: string): ProgressPoint => ({
    at: clock(at),
    source: "annotation",
    pod,
    checkpoint: { at: clock(at) },
  });
  const pods = [
    runPod("a", ["08:00", "08:00", "10:00"]),
    runPod("b", ["08:00", "08:00", "10:00"]),
    runPod("c", ["10:01", "10:02"]),
    runPod("d", ["10:01", "10:02"]),
  ];
  const lossesOf = (run: Run, points: readonly ProgressPoint[], configured?: number) =>
    layOut(run, { points, faults: [], configured }).timelines.map(({ stops }) => stops.map(({ loss }) => loss?.from));

  it("have the reports of their own pods, and those of the owner only if there is one lane", () => {
    const independent = runWith(pods, { isGang: false });
    expect(lossesOf(independent, [saved("09:00", pods[0]!.uid)])).toEqual([[clock("09:00")], [undefined]]);
    expect(lossesOf(independent, [saved("09:00", "")])).toEqual([[undefined], [undefined]]);
    expect(lossesOf(runWith(pods), [saved("09:00", "")])).toEqual([[clock("09:00")]]);
  });

  it("have no report of a pod from before its start, which its owner has kept", () => {
    expect(lossesOf(runWith(pods), [saved("07:59", pods[0]!.uid)])).toEqual([[undefined]]);
  });

  it("have estimates by the interval that the run states, before the configured one", () => {
    const run = runWith(pods, { marks: { checkpointEverySeconds: 600 } });
    expect(lossesOf(run, [], HOUR)).toEqual([[clock("09:55")]]);
  });

  it("are calm without a stop and a checkpoint", () => {
    const { lanes, timelines } = layOut(
      runWith([...pods, runPod("e", ["08:00", "08:00", "09:00", "completed"])], { isGang: false }),
      {
        points: [{ ...saved("11:00", pods[2]!.uid), checkpoint: { at: clock("11:00"), seconds: 60 } }],
        faults: [],
        configured: undefined,
      },
    );
    expect(lanes.map((lane, index) => isCalm(lane, timelines[index]!))).toEqual([false, false, true]);
  });
});
