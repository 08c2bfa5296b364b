import { describe, expect, it } from "vitest";
import { createPresence } from "../../../../../collectors/prometheus/kube-state/presence.ts";
import { runsWithin } from "../../../../../collectors/prometheus/kube-state/runs.ts";
import { collectRuns } from "../../../../support/state-scrapes.ts";

describe("runs of samples", () => {
  it("hold equal values without a gap", () => {
    const runs = collectRuns([0, 30, 60, 90, 200, 230], [1, 1, 2, 2, 2, 2], 45);
    expect(runs).toEqual([
      { value: 1, fromMillis: 0, untilMillis: 30 },
      { value: 2, fromMillis: 60, untilMillis: 90 },
      { value: 2, fromMillis: 200, untilMillis: 230 },
    ]);
  });

  it("end at a staleness marker", () => {
    expect(collectRuns([0, 30, 60, 90], [1, Number.NaN, 1, Number.NaN], 45)).toEqual([
      { value: 1, fromMillis: 0, untilMillis: 0 },
      { value: 1, fromMillis: 60, untilMillis: 60 },
    ]);
    expect(collectRuns([], [], 45)).toEqual([]);
  });

  it("are cut at the ends of a span", () => {
    const runs = collectRuns([0, 30, 60], [1, 1, 2], 45);
    expect(runsWithin(runs, { fromMillis: 10, untilMillis: 20 })).toEqual([
      { value: 1, fromMillis: 10, untilMillis: 20 },
    ]);
    expect(runsWithin(runs, { fromMillis: 0, untilMillis: 60 })).toBe(runs);
  });
});

describe("the presence of kube-state-metrics", () => {
  const presence = createPresence(
    [
      { fromMillis: 0, untilMillis: 1000 },
      { fromMillis: 5000, untilMillis: 9000 },
    ],
    100,
  );

  it("separates an absent object from an outage", () => {
    expect(presence.isAbsentBetween(1000, 5000)).toBe(false);
    expect(presence.isAbsentBetween(500, 5000)).toBe(true);
    expect(presence.isAbsentBetween(500, 600)).toBe(false);
    expect(presence.isGoneAfter(1000)).toBe(true);
    expect(presence.isGoneAfter(8900)).toBe(false);
  });

  it("joins runs across an outage only if the value is the same", () => {
    const [one, same, other] = [
      { value: 1, fromMillis: 0, untilMillis: 1000 },
      { value: 1, fromMillis: 5000, untilMillis: 6000 },
      { value: 2, fromMillis: 6100, untilMillis: 9000 },
    ];
    expect(presence.bridge([one, same, other])).toEqual([{ ...one, untilMillis: 6000 }, other]);
    expect(presence.nextSeen(1100)).toBe(5000);
    expect(presence.nextSeen(9100)).toBeUndefined();
  });
});
