import { describe, expect, it } from "vitest";
import { podChanges } from "../../../../../processors/ledger/term/dirty-facts.ts";
import { NOON, workloadFact } from "../../../../support/facts.ts";
import { MINUTE_MILLIS as MINUTE } from "../../../../../domain/time.ts";

const NOW = NOON + 300 * MINUTE;
const times = { created: NOON, scheduled: NOON + MINUTE, started: NOON + 2 * MINUTE };
const running = workloadFact({ times });

describe("the time that a pod's new fact changes", () => {
  it("is its whole time until now, if there was no earlier fact", () => {
    expect(podChanges(undefined, running, NOW)).toEqual([{ from: NOON + MINUTE, until: NOW }]);
  });

  it("is its time until its end, if there was no earlier fact and the pod has ended", () => {
    const over = workloadFact({ times: { ...times, finished: NOON + 100 * MINUTE }, phase: "Succeeded" });
    expect(podChanges(undefined, over, NOW)).toEqual([{ from: NOON + MINUTE, until: NOON + 100 * MINUTE }]);
  });

  it("is empty if the pod is not bound, or if the fact equals the earlier one", () => {
    expect(podChanges(undefined, workloadFact({ node: "", times: { created: NOON } }), NOW)).toEqual([]);
    expect(podChanges(running, { ...running, restarts: 3, seenAtMillis: NOW }, NOW)).toEqual([]);
    expect(podChanges(running, { ...running, training: { step: 7 } }, NOW)).toEqual([]);
  });

  it("is the time from its end on, if it ended", () => {
    const over = workloadFact({ times: { ...times, finished: NOON + 100 * MINUTE }, phase: "Succeeded" });
    expect(podChanges(running, over, NOW)).toEqual([{ from: NOON + 100 * MINUTE, until: NOW }]);
    expect(podChanges(over, running, NOW)).toEqual([{ from: NOON + 100 * MINUTE, until: NOW }]);
  });

  it("is the time between the two starts, if its start changed", () => {
    const pending = workloadFact({ times: { created: NOON, scheduled: NOON + MINUTE } });
    expect(podChanges(pending, running, NOW)).toEqual([{ from: NOON + 2 * MINUTE, until: NOW }]);
    const later = workloadFact({ times: { ...times, started: NOON + 9 * MINUTE } });
    expect(podChanges(running, later, NOW)).toEqual([{ from: NOON + 2 * MINUTE, until: NOON + 9 * MINUTE }]);
  });

  it("is its whole time, if its devices or its owner changed", () => {
    const others = workloadFact({ times, labels: { team: "nlp" } });
    expect(podChanges(running, others, NOW)).toEqual([{ from: NOON + MINUTE, until: NOW }]);
    const moved = workloadFact({ times, node: "gpu-b" });
    expect(podChanges(running, moved, NOW)).toEqual([{ from: NOON + MINUTE, until: NOW }]);
  });
});
