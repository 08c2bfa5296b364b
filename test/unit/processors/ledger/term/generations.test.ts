import { describe, expect, it } from "vitest";
import { settledUntil } from "../../../../../processors/ledger/term/dirty-windows.ts";
import { nextGeneration } from "../../../../../processors/ledger/term/leader.ts";
import { supersededRuns, type KnownRun } from "../../../../../processors/ledger/term/superseded.ts";
import { MINUTE_MILLIS as MINUTE } from "../../../../../domain/time.ts";

const NOON = Date.UTC(2026, 2, 1, 12);

describe("a leader's generation", () => {
  it("is the group's own if that is the highest", () => {
    expect(nextGeneration(12, 7)).toBe(12);
  });

  it("is above every written one, if the bus has lost the group's state", () => {
    expect(nextGeneration(1, 7)).toBe(8);
    expect(nextGeneration(7, 7)).toBe(8);
  });
});

describe("superseded runs", () => {
  const run = (runId: string, given: Partial<KnownRun> = {}): KnownRun => ({
    cluster: "a",
    windowStart: NOON,
    runId,
    generation: 1,
    publishedAt: NOON,
    kind: "rollup",
    billingPeriod: "2026-03-01",
    ...given,
  });
  const names = (runs: readonly KnownRun[], now: number): readonly string[] =>
    supersededRuns(runs, now).map(({ runId }) => runId);

  it("are deleted an hour after a better run was published", () => {
    const runs = [run("a"), run("b", { publishedAt: NOON + MINUTE })];
    expect(names(runs, NOON + 61 * MINUTE)).toEqual([]);
    expect(names(runs, NOON + 61 * MINUTE + 1)).toEqual(["a"]);
  });

  it("are those of a lower generation, also if they were published later", () => {
    const runs = [run("old", { publishedAt: NOON + MINUTE }), run("new", { generation: 2 })];
    expect(names(runs, NOON + 100 * MINUTE)).toEqual(["old"]);
  });

  it("are decided by the run's id if the time is the same", () => {
    expect(names([run("b"), run("a")], NOON + 100 * MINUTE)).toEqual(["a"]);
  });

  it("stay while the better run is only announced, or has another window or kind", () => {
    const better = { generation: 2, publishedAt: NOON + MINUTE };
    expect(names([run("a"), run("b", { ...better, kind: undefined })], NOON + 200 * MINUTE)).toEqual([]);
    expect(names([run("a"), run("b", { ...better, cluster: "b" })], NOON + 200 * MINUTE)).toEqual([]);
    expect(names([run("a"), run("b", { ...better, kind: "usage" })], NOON + 200 * MINUTE)).toEqual([]);
  });
});

describe("the settled hours", () => {
  it("end with the last hour that every partition has passed by the delay", () => {
    expect(settledUntil(NOON + 10 * MINUTE, 10 * MINUTE)).toBe(NOON);
    expect(settledUntil(NOON + 10 * MINUTE - 1, 10 * MINUTE)).toBe(NOON - 60 * MINUTE);
    expect(settledUntil(undefined, 10 * MINUTE)).toBeUndefined();
  });
});
