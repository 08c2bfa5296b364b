import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createLeaderJobs, type LeaderJob } from "../../../services/leader/jobs.ts";

const EVERY = 1_000;

describe("the jobs of the leader", () => {
  let events: string[];
  let warnings: string[];
  let isFailing: boolean;
  let release: (() => void) | undefined;
  const logger = pino({ level: "warn" }, { write: (line: string) => void warnings.push(line) });
  const job: LeaderJob = {
    name: "cards",
    everyMillis: EVERY,
    async work(signal) {
      events.push("work");
      if (isFailing) throw new Error("no store");
      if (release !== undefined) await new Promise<void>((resolve) => (release = resolve));
      events.push(signal.aborted ? "set late" : "set");
    },
    clear: () => void events.push("clear"),
    close: () => Promise.resolve(void events.push("close")),
  };

  beforeEach(() => {
    vi.useFakeTimers();
    [events, warnings, isFailing, release] = [[], [], false, undefined];
  });
  afterEach(() => vi.useRealTimers());

  it("run at once and in their interval, while this processor leads", async () => {
    const jobs = createLeaderJobs([job], logger);
    await vi.advanceTimersByTimeAsync(EVERY);
    expect(events).toEqual([]);
    jobs.begin();
    await vi.advanceTimersByTimeAsync(EVERY);
    jobs.end();
    await vi.advanceTimersByTimeAsync(EVERY);
    expect(events).toEqual(["clear", "work", "set", "work", "set", "clear"]);
    jobs.begin();
    await vi.advanceTimersByTimeAsync(1);
    expect(events.slice(6)).toEqual(["clear", "work", "set"]);
    await jobs.stop();
    expect(events.slice(9)).toEqual(["clear", "close"]);
  });

  it("show nothing that work sets after the end of the leadership", async () => {
    release = () => {};
    const jobs = createLeaderJobs([job], logger);
    jobs.begin();
    await vi.advanceTimersByTimeAsync(1);
    jobs.end();
    release();
    await vi.advanceTimersByTimeAsync(1);
    expect(events.slice(1)).toEqual(["work", "clear", "set late", "clear"]);
  });

  it("warn at the first failure in a row, and go on", async () => {
    isFailing = true;
    const jobs = createLeaderJobs([job], logger);
    jobs.begin();
    await vi.advanceTimersByTimeAsync(3 * EVERY);
    expect(warnings.map((line) => (JSON.parse(line) as { job: string }).job)).toEqual(["cards"]);
    isFailing = false;
    await vi.advanceTimersByTimeAsync(EVERY);
    isFailing = true;
    await vi.advanceTimersByTimeAsync(EVERY);
    expect(warnings).toHaveLength(2);
    await jobs.stop();
  });
});
