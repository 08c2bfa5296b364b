import { describe, expect, it } from "vitest";
import { timeLimitFarAboveNeed } from "../../../../../domain/practice/checks/time-limits.ts";
import type { LimitedPod } from "../../../../../domain/practice/facts.ts";
import type { WorkloadFact } from "../../../../../domain/workload.ts";
import { NOON } from "../../../../support/facts.ts";
import { goodPod, practicesOf } from "../../../../support/practices.ts";

const HOUR = 3_600;
const DAY = 24 * HOUR;

function findingsOf(ended: readonly LimitedPod[], pods: readonly WorkloadFact[] = []) {
  return timeLimitFarAboveNeed.check(
    practicesOf({ limited: [{ newest: goodPod("train-9", { phase: "Succeeded" }), ended }], pods }),
  );
}

/** A pod with one GPU that succeeded after some minutes. */
function podOf(limitSeconds: number, minutes: number, given: Partial<LimitedPod> = {}): LimitedPod {
  return { run: "one", begun: NOON, finished: NOON + minutes * 60_000, limitSeconds, gpus: 1, ...given };
}

/** Pods of the given minutes, each in a Job of its own, with one limit. */
function podsOf(limitSeconds: number, ...minutes: readonly number[]): readonly LimitedPod[] {
  return minutes.map((each, index) => podOf(limitSeconds, each, { run: `job-${index}` }));
}

describe("a time limit far above the need", () => {
  it("is found with a limit of twice the longest use, in whole minutes", () => {
    const [finding] = findingsOf(podsOf(DAY, 60, 30, 90.2));
    expect(finding!.objects[0]!.detail).toBe("3 pods used 4 % of at least 1440 min, the longest 91 min");
    expect(finding!.fixes[0]).toMatch(
      /^# in the manifest of Job ml\/train: .*\nspec: \{ activeDeadlineSeconds: 10860 \}$/,
    );
    expect(finding!.team).toBe("vision");
  });

  it("needs at most 20 % by mean and by median", () => {
    expect(findingsOf(podsOf(10 * HOUR, 120, 120, 120))).toHaveLength(1);
    expect(findingsOf(podsOf(10 * HOUR, 120, 120, 121))).toEqual([]);
    expect(findingsOf(podsOf(10 * HOUR, 10, 121, 122))).toEqual([]);
    expect(findingsOf(podsOf(10 * HOUR, 10, 10, 121, 122))).toHaveLength(1);
  });

  it("needs 3 pods, or 1,000 GPU-hours between use and limit", () => {
    expect(findingsOf(podsOf(DAY, 60, 60))).toEqual([]);
    expect(findingsOf([podOf(126 * HOUR, 60, { gpus: 8 })])).toHaveLength(1);
    expect(findingsOf([podOf(126 * HOUR - 1, 60, { gpus: 8 })])).toEqual([]);
    expect(findingsOf([podOf(126 * HOUR, 60, { gpus: 0 })])).toEqual([]);
  });

  it("is above 61 minutes; pods with a shorter one do not count", () => {
    expect(findingsOf(podsOf(3_661, 5, 5, 5))).toHaveLength(1);
    expect(findingsOf(podsOf(3_660, 5, 5, 5))).toEqual([]);
    expect(findingsOf([...podsOf(DAY, 60, 60), podOf(3_660, 5)])).toEqual([]);
  });

  it("is not found where twice the longest use is above a limit", () => {
    expect(findingsOf(podsOf(10 * HOUR, 1, 1, 1, 299))).toHaveLength(1);
    expect(findingsOf(podsOf(10 * HOUR, 1, 1, 1, 300))).toEqual([]);
  });

  it("counts the time of a Job from its first pod to its last one", () => {
    const after = (hours: number) => {
      const begun = NOON + hours * 3_600_000;
      return podOf(10 * HOUR, 60, { begun, finished: begun + 3_600_000 });
    };
    expect(findingsOf([after(0), after(0.5), after(1)])).toHaveLength(1);
    expect(findingsOf([after(0), after(1), after(1.1)])).toEqual([]);
    // The Job goes on with another pod.
    const owners = [{ apiVersion: "batch/v1", kind: "Job", name: "train", uid: "one" }];
    expect(findingsOf([after(0), after(0.5), after(1)], [goodPod("next", { owners })])).toEqual([]);
  });
});
