import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Lane } from "../../../../domain/training/lanes.ts";
import type { ProgressPoint } from "../../../../domain/training/progress.ts";
import { timelineOf, type TimelineEvidence } from "../../../../domain/training/timeline.ts";
import type { EndReason } from "../../../../domain/workload.ts";
import { rounds } from "../../../support/rounds.ts";
import { clock, fault, runPod } from "../../../support/training/pods.ts";

const HOUR = 3_600_000;

/** A timeline in words: `08:00 training`, with the number of the stop that caused a phase. */
function words(lane: Lane, evidence: Partial<TimelineEvidence> = {}): readonly string[] {
  const { stretches } = timelineOf(lane, { points: [], faults: [], intervals: {}, ...evidence });
  return stretches.map(({ from, phase, stop }) => {
    const time = from === -Infinity ? "ever" : new Date(from).toISOString().slice(11, 19).replace(/:00$/, "");
    return `${time} ${phase}${stop === undefined ? "" : ` ${stop}`}`;
  });
}

const report = (at: string, pod: string, more: Partial<ProgressPoint>): ProgressPoint => ({
  at: clock(at),
  source: "annotation",
  pod,
  ...more,
});
const saved = (at: string, pod: string, seconds?: number): ProgressPoint =>
  report(at, pod, { checkpoint: { at: clock(at), ...(seconds === undefined ? {} : { seconds }) } });

/** Two pods, the second of which starts later; one fails at 10:00, both come again and train from 10:20 on. */
const RESTARTED: readonly [Lane[number], Lane[number], Lane[number], Lane[number]] = [
  runPod("w-0", ["08:00", "08:05", "10:00"]),
  runPod("w-1", ["08:00", "08:10", "10:01", "deleted"]),
  runPod("w-0", ["10:02", "10:15", "12:00", "completed"]),
  runPod("w-1", ["10:02", "10:20", "12:00", "completed"]),
];

describe("the timeline of a lane", () => {
  it("starts until all pods run, and recovers from the first end until all run again", () => {
    expect(words(RESTARTED)).toEqual(["ever starting", "08:10 training", "10:00 recovering 0", "10:20 training"]);
  });

  it("starts for ever if a pod never runs", () => {
    expect(words([runPod("w-0", ["08:00"])])).toEqual(["ever starting"]);
    expect(words([runPod("w-0", ["08:00", "08:01"]), runPod("w-1", ["08:00"])])).toEqual(["ever starting"]);
  });

  it("has no stop at the end of pods that succeed", () => {
    const lane = [runPod("w-0", ["08:00", "08:00", "09:00", "completed"]), runPod("w-1", ["08:00", "08:00"])];
    expect(words(lane)).toEqual(["ever starting", "08:00 training"]);
  });

  it("recovers from a failure during the start", () => {
    const lane = [
      runPod("w-0", ["08:00", "08:01", "08:05"]),
      runPod("w-1", ["08:00", "08:30"]),
      runPod("w-0", ["08:06", "08:20"]),
    ];
    expect(words(lane)).toEqual(["ever starting", "08:05 recovering 0", "08:30 training"]);
  });

  it("does not recover after the last failure", () => {
    const { stops } = timelineOf([runPod("w-0", ["08:00", "08:00", "09:00", "node-lost"])], {
      points: [],
      faults: [],
      intervals: { configured: HOUR },
    });
    expect(stops).toMatchObject([{ cause: "node-lost", isRestarted: false, until: clock("09:00"), loss: undefined }]);
  });

  it("counts a restart of containers in place as a stop", () => {
    const restarts = [{ at: clock("09:00"), again: clock("09:04") }];
    const lane = [runPod("w-0", ["08:00", "08:00"], { restarts }), runPod("w-1", ["08:00", "08:00"])];
    expect(words(lane)).toEqual(["ever starting", "08:00 training", "09:00 recovering 0", "09:04 training"]);
  });

  it("trains with fewer pods after ten quiet minutes, or from when progress shows it", () => {
    const lane = [runPod("w-0", ["08:00", "08:00"]), runPod("w-1", ["08:00", "08:00", "09:00"])];
    const settled = ["ever starting", "08:00 training", "09:00 recovering 0", "09:10 training"];
    expect(words(lane)).toEqual(settled);
    const [survivor] = lane;
    const points = [report("09:03", survivor!.uid, { step: 10 }), report("09:04", survivor!.uid, { step: 11 })];
    expect(words(lane, { points })).toEqual([...settled.slice(0, 3), "09:04 training"]);
  });

  it("has no stop if a pod is deleted while the others run on", () => {
    const lane = [runPod("w-0", ["08:00", "08:00"]), runPod("w-1", ["08:00", "08:00", "09:00", "deleted"])];
    expect(words(lane)).toEqual(["ever starting", "08:00 training"]);
    const replaced = [...lane, runPod("w-1", ["09:01", "09:05"])];
    expect(words(replaced)).toEqual(["ever starting", "08:00 training", "09:00 recovering 0", "09:05 training"]);
  });

  it("stops at the fault that ended a pod later, but not before the last report", () => {
    const faults = [fault("node-of-w-1", "09:45")];
    expect(words(RESTARTED, { faults })[2]).toBe("09:45 recovering 0");
    const points = [report("09:50", RESTARTED[0]!.uid, { step: 7 })];
    expect(words(RESTARTED, { faults, points })[2]).toBe("09:50 recovering 0");
  });

  it("takes no fault of another node, none from long before, and one that a scrape shows later only as the cause", () => {
    const at = (node: string, time: string) => [fault(node, time)];
    expect(words(RESTARTED, { faults: at("node-of-others", "09:45") })[2]).toBe("10:00 recovering 0");
    expect(words(RESTARTED, { faults: at("node-of-w-0", "09:29") })[2]).toBe("10:00 recovering 0");
    const faults = at("node-of-w-0", "10:00:30");
    const { stops } = timelineOf(RESTARTED, { points: [], faults, intervals: {} });
    expect(stops).toMatchObject([{ at: clock("10:00"), fault: faults[0] }]);
  });

  it("does not stop before the end of a pod by a fault that blocks nothing, and takes one that blocks first", () => {
    const near = fault("node-of-w-0", "09:57", { kind: "condition", code: "KernelDeadlock", isBlocking: false });
    const faultOf = (faults: TimelineEvidence["faults"]) =>
      timelineOf(RESTARTED, { points: [], faults, intervals: {} }).stops.map(({ at, fault }) => [at, fault]);
    expect(faultOf([near])).toEqual([[clock("10:00"), near]]);
    expect(faultOf([{ ...near, at: clock("09:50") }])).toEqual([[clock("10:00"), undefined]]);
    const blocking = { ...near, at: clock("09:59"), isBlocking: true };
    expect(faultOf([near, blocking])).toEqual([[clock("09:59"), blocking]]);
  });

  it("covers every moment once, whatever its pods and reports are", () => {
    const minute = fc.integer({ min: 0, max: 300 }).map((minutes) => clock("08:00") + minutes * 60_000);
    const reason = fc.constantFrom<EndReason>("completed", "failed", "deleted", "evicted");
    const pod = fc.record({
      times: fc.tuple(minute, minute, minute, minute).map((times) => times.toSorted((a, b) => a - b)),
      life: fc.constantFrom("pending", "running", "ended", "restarted"),
      reason,
    });
    const point = fc.record({
      at: minute,
      pod: fc.nat(3),
      step: fc.option(fc.nat(20), { nil: undefined }),
      percent: fc.option(fc.nat(100), { nil: undefined }),
      saved: fc.option(minute, { nil: undefined }),
      seconds: fc.nat(900),
    });
    const anyFault = fc
      .record({ node: fc.constantFrom("n-0", "n-1"), at: minute, isBlocking: fc.boolean() })
      .map(({ node, ...more }) => fault(node, "08:00", more));
    fc.assert(
      fc.property(
        fc.array(pod, { minLength: 1, maxLength: 5 }),
        fc.array(point, { maxLength: 12 }),
        fc.array(anyFault, { maxLength: 3 }),
        (pods, reports, faults) => {
          const lane = pods.map(
            ({ times: [created, started, at, ended], life, reason: because }, index): Lane[number] => ({
              uid: `p-${index}`,
              name: `p-${index}`,
              node: `n-${index % 2}`,
              created: created!,
              restarts: life === "restarted" ? [{ at: at!, again: at! + 60_000 }] : [],
              ...(life === "pending" ? {} : { started: started! }),
              ...(life === "ended" ? { end: { at: ended!, reason: because } } : {}),
            }),
          );
          const points = reports
            .map(({ at, pod: index, step, percent, saved: savedAt, seconds }): ProgressPoint => ({
              at,
              source: "metric",
              pod: index === 3 ? "" : `p-${index}`,
              ...(step === undefined ? {} : { step }),
              ...(percent === undefined ? {} : { percent }),
              ...(savedAt === undefined ? {} : { checkpoint: { at: savedAt, seconds } }),
            }))
            .toSorted((a, b) => a.at - b.at);
          const { stretches } = timelineOf(lane, {
            points,
            faults: faults.toSorted((a, b) => a.at - b.at),
            intervals: { configured: HOUR },
          });
          expect(stretches.map(({ from }) => from)).toEqual([
            -Infinity,
            ...stretches.slice(0, -1).map(({ until }) => until),
          ]);
          expect(stretches.at(-1)!.until).toBe(Infinity);
          expect(stretches.every(({ from, until }) => from < until)).toBe(true);
        },
      ),
      { numRuns: rounds(20_000) },
    );
  });
});

describe("lost progress", () => {
  const [first, , second] = RESTARTED;

  it("is the training since the last checkpoint; the time of a checkpoint itself is of another phase", () => {
    expect(words(RESTARTED, { points: [saved("09:00", first.uid), saved("09:40", first.uid, 120)] })).toEqual([
      "ever starting",
      "08:10 training",
      "09:38 checkpointing",
      "09:40 lost 0",
      "10:00 recovering 0",
      "10:20 training",
    ]);
  });

  it("begins where the steps fell back to, in proportion between two reports", () => {
    // Step 150 lies in the middle between 100 at 09:00 and 200 at 09:30.
    const points = [
      report("09:00", first.uid, { step: 100 }),
      report("09:30", first.uid, { step: 200 }),
      report("10:30", second.uid, { step: 150 }),
    ];
    expect(words(RESTARTED, { points })[2]).toBe("09:15 lost 0");
  });

  it("begins at the earlier of the checkpoint and the fall, because not every resume uses the last checkpoint", () => {
    const points = [
      report("09:00", first.uid, { step: 100 }),
      saved("09:40", first.uid),
      report("09:50", first.uid, { step: 200 }),
      report("10:30", second.uid, { step: 100 }),
    ];
    expect(words(RESTARTED, { points })[2]).toBe("09:00 lost 0");
  });

  it("is known from a percentage only if nothing finer is known", () => {
    const percent = (at: string, value: number) => report(at, "", { source: "trainjob", percent: value });
    const points = [percent("09:00", 10), percent("09:40", 20), percent("10:25", 10)];
    expect(words(RESTARTED, { points })[2]).toBe("09:00 lost 0");
    const withCheckpoint = [...points, saved("09:55", first.uid)].toSorted((a, b) => a.at - b.at);
    expect(words(RESTARTED, { points: withCheckpoint })[2]).toBe("09:55 lost 0");
  });

  it("is all training if the program reports, and its first checkpoint comes later", () => {
    const points = [report("08:30", first.uid, { step: 1 }), saved("11:00", second.uid)];
    expect(words(RESTARTED, { points })).toEqual([
      "ever starting",
      "08:10 lost 0",
      "10:00 recovering 0",
      "10:20 training",
    ]);
  });

  it("is nothing if steps go on where they were, whatever interval is configured", () => {
    const points = [report("09:30", first.uid, { step: 200 }), report("10:30", second.uid, { step: 201 })];
    expect(words(RESTARTED, { points, intervals: { configured: HOUR } })).toHaveLength(4);
  });

  it("is nothing after a checkpoint that another pod completed while it was ended", () => {
    const points = [saved("09:00", first.uid), saved("10:00:40", RESTARTED[1]!.uid)];
    expect(words(RESTARTED, { points })).toEqual([
      "ever starting",
      "08:10 training",
      "10:00 recovering 0",
      "10:20 training",
    ]);
  });

  it("is estimated as half of the interval, as the owner states it, as it was seen, or as it is configured", () => {
    expect(words(RESTARTED, { intervals: { configured: HOUR } })[2]).toBe("09:30 lost-estimated 0");
    expect(words(RESTARTED, { intervals: { configured: HOUR, stated: HOUR / 2 } })[2]).toBe("09:45 lost-estimated 0");
    // A third attempt has checkpoints every 20 minutes; nothing was reported before the stop.
    const points = [saved("11:00", second.uid), saved("11:20", second.uid)];
    expect(words(RESTARTED, { points, intervals: { configured: HOUR } })[2]).toBe("09:50 lost-estimated 0");
  });

  it("is estimated at most back to the stop before, and not for a run that ended", () => {
    expect(words(RESTARTED, { intervals: { configured: 10 * HOUR } })[1]).toBe("08:10 lost-estimated 0");
    expect(words(RESTARTED.slice(0, 2), { intervals: { configured: HOUR } })).toHaveLength(3);
  });

  it("is not lost twice by two stops", () => {
    const third = runPod("w-0", ["11:05", "11:10"]);
    const lane = [first, { ...second, end: { at: clock("11:00"), reason: "failed" } } as const, third];
    expect(words(lane, { points: [saved("09:00", first.uid)] })).toEqual([
      "ever starting",
      "08:05 training",
      "09:00 lost 0",
      "10:00 recovering 0",
      "10:15 lost 1",
      "11:00 recovering 1",
      "11:10 training",
    ]);
  });

  it("is seen without any stop of a pod if the steps of one pod fall", () => {
    const steps = (at: string, step: number) => report(at, first.uid, { step });
    const points = [steps("08:20", 100), steps("08:40", 200), steps("09:00", 100), steps("09:20", 200)];
    const { stretches, stops } = timelineOf([runPod("w-0", ["08:00", "08:05"])], { points, faults: [], intervals: {} });
    expect(stops).toMatchObject([{ cause: "rolled-back", at: clock("09:00"), until: clock("09:00") }]);
    expect(stretches.map(({ from, phase }) => [from, phase])).toEqual([
      [-Infinity, "starting"],
      [clock("08:05"), "training"],
      [clock("08:20"), "lost"],
      [clock("09:00"), "training"],
    ]);
  });

  it("takes the reports of one pod, because those of others come later", () => {
    const points = [
      report("08:20", first.uid, { step: 100 }),
      report("08:21", "other", { step: 99 }),
      report("08:40", first.uid, { step: 200 }),
    ];
    expect(timelineOf([runPod("w-0", ["08:00", "08:05"])], { points, faults: [], intervals: {} }).stops).toEqual([]);
  });
});
