import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inferenceLoad, notebookLoad, steadyLoad, trainingLoad } from "../../../../demo/fleet/habits.ts";
import { dayWave, loadAt, loadBetween, weekWave, type Load } from "../../../../demo/fleet/load.ts";
import { rounds } from "../../../support/rounds.ts";

const START = Date.UTC(2026, 5, 1) / 1000;
const key = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const load: fc.Arbitrary<Load> = fc.oneof(
  key.map(trainingLoad),
  fc
    .tuple(key, key, fc.integer({ min: -12, max: 12 }))
    .map(([service, pod, offset]) => inferenceLoad(service, pod, offset)),
  key.map(notebookLoad),
  key.map((each) => steadyLoad(each, 0.9)),
);

/** Six pulses in two hours, with edges that are not on whole seconds. */
const PULSED: Load = {
  base: 0.94,
  waves: [],
  pulse: {
    height: -0.7493770921118558,
    period: 1220.9722023457289,
    width: 65.26610281784087,
    phase: 975.5358469265176,
  },
};

describe("a load", () => {
  test("is between 0 and 1", () => {
    fc.assert(
      fc.property(load, fc.nat(604_800), (each, at) => {
        const value = loadAt(each, START + at);
        expect(value).toBeGreaterThanOrEqual(-1e-9);
        expect(value).toBeLessThanOrEqual(1 + 1e-9);
      }),
      { numRuns: rounds(5000) },
    );
  });

  test("has the same area as a sum second by second", () => {
    fc.assert(
      fc.property(load, fc.nat(604_800), (each, at) => {
        const from = START + at;
        let sum = 0;
        for (let i = 0; i < 7200; i++) sum += loadAt(each, from + i + 0.5);
        // The reference counts a pulse in whole seconds: each pulse differs by at most one second. Waves are smooth.
        const pulses = each.pulse === undefined ? 0 : 7200 / each.pulse.period + 2;
        const off = pulses * Math.abs(each.pulse?.height ?? 0) + 0.5;
        expect(Math.abs(loadBetween(each, from, from + 7200) - sum)).toBeLessThan(off);
      }),
      { numRuns: 50, examples: [[PULSED, 0]] },
    );
  });

  test("is highest in the afternoon of its time zone, and in the middle of the week", () => {
    const day: Load = { base: 0, waves: [dayWave(1, 9)] };
    expect(loadAt(day, Date.UTC(2026, 5, 3, 5) / 1000)).toBeCloseTo(1, 6);
    const week: Load = { base: 0, waves: [weekWave(1)] };
    expect(loadAt(week, Date.UTC(2026, 5, 3, 12) / 1000)).toBeCloseTo(1, 6);
  });
});
