import { describe, expect, it } from "vitest";
import { startScrapeLoop, type LoopClock } from "../../../../collectors/exporters/loop.ts";

/** A clock that a test moves; the wall clock can be set independently. */
function createClock() {
  let elapsed = 0;
  let wall = 1_770_000_000_000;
  let timers: { at: number; run: () => void }[] = [];
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  const clock: LoopClock = {
    nowMillis: () => wall + elapsed,
    monotonicMillis: () => elapsed,
    after(millis, run) {
      const timer = { at: elapsed + millis, run };
      timers.push(timer);
      return { cancel: () => (timers = timers.filter((other) => other !== timer)) };
    },
  };
  return {
    clock,
    setWall: (millis: number) => (wall = millis - elapsed),
    elapsed: () => elapsed,
    async advance(millis: number) {
      await settle();
      const end = elapsed + millis;
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        elapsed = Math.max(elapsed, next.at);
        next.run();
        await settle();
      }
      elapsed = end;
    },
  };
}

describe("a scrape loop", () => {
  it("scrapes once an interval, at an offset that depends on the target's key, also after a restart", async () => {
    const places = new Set<number>();
    for (const start of [0, 7_300, 21_999]) {
      const { clock, advance } = createClock();
      await advance(start);
      const at: number[] = [];
      const loop = startScrapeLoop({
        key: "http://a",
        intervalMillis: 30_000,
        scrape: () => Promise.resolve(void at.push(clock.nowMillis())),
        onSkipped: () => expect.unreachable(),
        clock,
      });
      await advance(120_000);
      await loop.stop();
      expect(at).toHaveLength(4);
      for (const time of at) places.add(time % 30_000);
    }
    expect(places.size).toBe(1);
  });

  it("never overlaps: scrapes that are due while another one runs are skipped and counted", async () => {
    const { clock, advance } = createClock();
    let skipped = 0;
    let finish = (): void => {};
    let running = 0;
    const loop = startScrapeLoop({
      key: "http://a",
      intervalMillis: 1000,
      scrape: () => {
        running += 1;
        expect(running).toBe(1);
        return new Promise<void>((resolve) => (finish = () => ((running -= 1), resolve())));
      },
      onSkipped: (count) => (skipped += count),
      clock,
    });
    await advance(1000);
    expect(running).toBe(1);
    await advance(3500);
    finish();
    await advance(1000);
    expect(skipped).toBe(4);
    expect(running).toBe(1);
    finish();
    await loop.stop();
  });

  it("keeps its interval when the wall clock is set forwards or back", async () => {
    const { clock, advance, setWall, elapsed } = createClock();
    const at: number[] = [];
    const loop = startScrapeLoop({
      key: "http://b",
      intervalMillis: 1000,
      scrape: () => Promise.resolve(void at.push(elapsed())),
      onSkipped: () => expect.unreachable(),
      clock,
    });
    await advance(3000);
    setWall(1_000_000_000_000);
    await advance(3000);
    setWall(1_900_000_000_000);
    await advance(3000);
    await loop.stop();
    expect(at).toHaveLength(9);
    expect(new Set(at.map((time) => time % 1000)).size).toBe(1);
  });

  it("waits for the running scrape when it is stopped, and starts no other", async () => {
    const { clock, advance } = createClock();
    let finish = (): void => {};
    let started = 0;
    const loop = startScrapeLoop({
      key: "http://a",
      intervalMillis: 1000,
      scrape: () => {
        started += 1;
        return new Promise<void>((resolve) => (finish = resolve));
      },
      onSkipped: () => {},
      clock,
    });
    await advance(1000);
    let stopped = false;
    const stop = loop.stop().then(() => (stopped = true));
    await advance(5000);
    expect(stopped).toBe(false);
    finish();
    await stop;
    expect(started).toBe(1);
  });
});
