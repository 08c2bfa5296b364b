import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { NO_HOLDER } from "../../domain/holder.ts";
import { LEADER_GROUP, LEDGER_TOPIC, SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import { createDirtyWindows, SAMPLE_WINDOWS, type DirtyWindows } from "../../processors/ledger/term/dirty-windows.ts";
import { startLeadership, type Leadership, type Term } from "../../processors/ledger/term/leader.ts";
import { pause } from "../../runtime/clock.ts";
import type { TermTiming } from "../../processors/ledger/term/term-timing.ts";
import { workTerm } from "../../processors/ledger/term/term-work.ts";
import type { TermLedger } from "../../processors/ledger/term/term-state.ts";
import { ledgerRules } from "../../processors/ledger/charging/rules.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { readScenario } from "../../scenarios/read.ts";
import { computeWindow } from "../../processors/ledger/rollup/rollups.ts";
import { newRunId } from "../../processors/ledger/runs/runs.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { spawnMember } from "../support/bus/child-member.ts";

import { emptyTables } from "../../runtime/store/empty-tables.ts";
import { createTestDatabase } from "../support/database.ts";
import { openTestBus, scrapeMessage, startTestProcessor } from "../support/pipeline.ts";
import { insertRaw, type RawScrape } from "../support/raw-fleet.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

const NOON = Date.UTC(2026, 2, 1, 12);
const LONG = { timeout: 90_000, interval: 50 };
const scenario = readScenario(
  "title: nothing\nperiod: { start: 2026-03-01T00:00:00Z, end: 2026-03-02T00:00:00Z }",
  "nothing",
);
const ledger: TermLedger = {
  rules: ledgerRules(rulesOf(scenario), "nothing"),
  meteredSince: () => 0,
};

const QUICK: TermTiming = {
  refreshMillis: 200,
  refreshCostFactor: 1,
  longestRefreshMillis: 60_000,
  quietMillis: 100,
  longestWaitMillis: 1_000,
  retryMillis: 300,
  lookMillis: 100,
  dropMillis: 600_000,
  overlapMillis: 1_000,
  settleMillis: 600_000,
  ledgerRows: 500,
  ledgerCostFactor: 1,
};

/** A scrape of one GPU. */
const scrape = (t: number): RawScrape => [
  {
    node: "n0",
    device: { gpu: "0", uuid: "GPU-0", model: "NVIDIA H100" },
    holder: NO_HOLDER,
    t,
    intervalMillis: 30_000,
    values: { gr_engine_active_ratio: 0.5 },
  },
];

describe("the leader", () => {
  let store: StoreClient;
  let bus: Bus;
  let busFolder: string;
  let closeBus: () => Promise<void>;

  beforeAll(async () => {
    store = await createTestDatabase("leadership");
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    await emptyTables(store);
    ({ bus, folder: busFolder, close: closeBus } = await openTestBus());
  });
  afterEach(async () => {
    await closeBus();
  });

  const elections = async (): Promise<readonly number[]> =>
    (
      await store.query<{ generation: string }>(
        "SELECT generation FROM runs WHERE kind = 'election' ORDER BY published_at, generation",
      )
    ).map(({ generation }) => Number(generation));

  /** A processor's part in the leadership, with a log of its terms that have begun and ended. */
  async function contend(): Promise<{ readonly leadership: Leadership; readonly log: string[] }> {
    const log: string[] = [];
    const leadership = await startLeadership({
      bus,
      store,
      now: Date.now,
      events: {
        onElected: (generation) => log.push(`elected ${generation}`),
        onDeposed: (generation) => log.push(`deposed ${generation}`),
        onUnknownRequest: ({ key }) => log.push(`unknown ${key}`),
        onError: (error) => log.push(`failed ${String(error)}`),
      },
      lead: (term) =>
        workTerm(
          {
            bus,
            store,
            now: Date.now,
            timing: QUICK,
            ledger,
            events: {
              onRun: ({ kind, windowStart, rows }) =>
                log.push(`${kind} ${(windowStart - NOON) / HOUR_MILLIS}: ${rows}`),
              onCharged: ({ findings }) => log.push(...findings.breaches.map(({ node }) => `failed ${node}`)),
              onLooked: () => {},
              onWaiting: () => {},
              onDropped: () => {},
              onError: (error) => log.push(`failed ${String(error)}`),
            },
          },
          term,
        ),
    });
    onTestFinished(() => leadership.stop());
    return { leadership, log };
  }

  it("is one of two processors, and the other one takes over when it stops", async () => {
    const { processor } = await startTestProcessor(bus, store);
    onTestFinished(() => processor.stop());
    const first = await contend();
    await expect.poll(() => first.leadership.generation, LONG).toBeDefined();
    const second = await contend();
    const messages = [1, 2, 3].map((n) => scrapeMessage({ node: "a", sequence: n, at: NOON + 600_000 + n * 30_000 }));
    await bus.send(SAMPLES_TOPIC, messages);
    await expect.poll(() => first.log.filter((line) => line.startsWith("rollup")), LONG).toEqual(["rollup 0: 2"]);
    expect(second.leadership.generation).toBeUndefined();

    const former = first.leadership.generation!;
    await first.leadership.stop();
    expect(first.log.at(-1)).toBe(`deposed ${former}`);
    await expect.poll(() => second.leadership.generation, LONG).toBeGreaterThan(former);
    await bus.send(SAMPLES_TOPIC, [scrapeMessage({ node: "a", sequence: 9, at: NOON - HOUR_MILLIS / 2 })]);
    // Runs that the former leader has published are not computed again.
    await expect.poll(() => second.log.filter((line) => line.startsWith("rollup")), LONG).toEqual(["rollup -1: 2"]);
    const runs = await store.query<{ generation: string }>(
      "SELECT generation FROM runs WHERE kind = 'rollup' ORDER BY window_start",
    );
    expect(runs.map(({ generation }) => Number(generation))).toEqual([second.leadership.generation, former]);
    expect([...first.log, ...second.log].filter((line) => line.startsWith("failed"))).toEqual([]);
  });

  it("is replaced by another one when its process is killed", async () => {
    const killed = await spawnMember({
      bus: { make: "embedded", folder: busFolder },
      group: LEADER_GROUP,
      topic: LEDGER_TOPIC,
      commitEvery: 1,
    });
    await insertRaw(store, "c", [scrape(NOON + 600_000)]);
    const next = await contend();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(next.log).toEqual([]);
    await killed.kill();
    await expect.poll(() => next.log, LONG).toContain("rollup 0: 1");
  });

  it("waits for running work before another one begins", async () => {
    let release = (): void => {};
    const order: string[] = [];
    const part = (name: string, lead: (term: Term) => Promise<void>): Promise<Leadership> =>
      startLeadership({
        bus,
        store,
        now: Date.now,
        events: {
          onElected: () => order.push(`${name} elected`),
          onDeposed: () => order.push(`${name} deposed`),
          onUnknownRequest: () => {},
          onError: () => {},
        },
        lead,
      });
    const first = await part("first", () => new Promise((resolve) => (release = resolve)));
    await expect.poll(() => order, LONG).toEqual(["first elected"]);
    await part("second", ({ signal }) => pause(60_000, signal));
    const stopped = first.stop();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(order).toEqual(["first elected"]);
    release();
    await stopped;
    await expect.poll(() => order, LONG).toEqual(["first elected", "first deposed", "second elected"]);
  });

  it("has a higher generation than all earlier ones, even on a new bus", async () => {
    const first = await contend();
    await expect.poll(() => first.leadership.generation, LONG).toBeDefined();
    await first.leadership.stop();
    const before = await elections();
    await closeBus();
    ({ bus, close: closeBus } = await openTestBus());
    const second = await contend();
    await expect.poll(() => second.leadership.generation, LONG).toBeDefined();
    expect(await elections()).toEqual([...before, second.leadership.generation]);
    expect(second.leadership.generation).toBeGreaterThan(Math.max(...before));
  });

  it("begins a new term if a higher generation was written meanwhile", async () => {
    const { leadership, log } = await contend();
    await expect.poll(() => leadership.generation, LONG).toBeDefined();
    const higher = leadership.generation! + 10;
    await store.insertJson("runs", [{ kind: "election", generation: higher, run_id: newRunId() }]);
    await expect.poll(() => leadership.generation ?? 0, LONG).toBeGreaterThan(higher);
    expect(log.map((line) => line.split(" ")[0])).toEqual(["elected", "deposed", "elected"]);
  });

  it("skips unknown requests once", async () => {
    const first = await contend();
    await bus.send(LEDGER_TOPIC, [{ key: "close-period", value: new Uint8Array([1]), schemaVersion: 1 }]);
    await expect.poll(() => first.log, LONG).toContain("unknown close-period");
    await first.leadership.stop();
    const second = await contend();
    await expect.poll(() => second.leadership.generation, LONG).toBeDefined();
    await bus.send(LEDGER_TOPIC, [{ key: "another", value: new Uint8Array([1]), schemaVersion: 1 }]);
    await expect.poll(() => second.log, LONG).toContain("unknown another");
    expect(second.log).not.toContain("unknown close-period");
  });

  it("survives a store that refuses, and publishes when the store accepts again", async () => {
    await insertRaw(store, "c", [scrape(NOON + 600_000)]);
    await store.command("RENAME TABLE gpu_5m TO gpu_5m_away");
    const { log } = await contend();
    await expect.poll(() => log.some((line) => line.startsWith("failed")), LONG).toBe(true);
    await store.command("RENAME TABLE gpu_5m_away TO gpu_5m");
    await expect.poll(() => log, LONG).toContain("rollup 0: 1");
    expect(log.filter((line) => line.startsWith("deposed"))).toEqual([]);
  });
});

describe("dirty windows", () => {
  let store: StoreClient;
  let now = NOON + 3 * HOUR_MILLIS;
  let end = 0;

  beforeAll(async () => {
    store = await createTestDatabase("dirty");
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    await emptyTables(store);
    end = 0;
  });

  const tracker = (): DirtyWindows =>
    createDirtyWindows({
      ...SAMPLE_WINDOWS,
      store,
      ends: () => Promise.resolve(new Map([[0, end]])),
      now: () => now,
      overlapMillis: 60_000,
    });
  const insert = async (times: readonly number[], position = end): Promise<void> => {
    await insertRaw(store, "c", times.map(scrape), position);
    end = Math.max(end, position + times.length);
  };
  const look = async (windows: DirtyWindows): Promise<readonly number[]> =>
    (await windows.look()).map(({ windowStart }) => (windowStart - NOON) / HOUR_MILLIS).toSorted((a, b) => a - b);
  const publish = (windows: DirtyWindows, hour: number) =>
    computeWindow(store, {
      cluster: "c",
      windowStart: NOON + hour * HOUR_MILLIS,
      runId: newRunId(),
      generation: 1,
      watermark: windows.watermark,
      publishedAt: now,
    });

  it("are those that a late scrape touches, and no other", async () => {
    const windows = tracker();
    await insert([NOON + 600_000, NOON + HOUR_MILLIS + 600_000]);
    expect(await look(windows)).toEqual([0, 1]);
    expect(await look(windows)).toEqual([]);
    await insert([NOON - 600_000]);
    expect(await look(windows)).toEqual([-1]);
    await insert([NOON + HOUR_MILLIS - 30_000]);
    expect(await look(windows)).toEqual([0, 1]);
    expect(await look(windows)).toEqual([]);
  });

  it("do not appear when a message is replayed at its offset, and change nothing when it comes at another", async () => {
    const windows = tracker();
    const times = [NOON + 600_000, NOON + 630_000];
    await insert(times);
    await look(windows);
    const first = await publish(windows, 0);
    await insert(times, 0);
    expect(await look(windows)).toEqual([]);
    await insert(times);
    expect(await look(windows)).toEqual([0]);
    expect(await publish(windows, 0)).toEqual(first);
  });

  it("are found if a row becomes visible after a later one of its partition", async () => {
    const windows = tracker();
    await insert([NOON + 600_000], 0);
    await insert([NOON + 600_030], 2);
    expect(await look(windows)).toEqual([0]);
    await insert([NOON - 600_000], 1);
    expect(await look(windows)).toEqual([-1]);
  });

  it("are found once, for any number of moves of the watermark", async () => {
    const windows = tracker();
    const seen: (readonly number[])[] = [];
    for (let step = 0; step < 6; step++) {
      await insert([NOON + step * HOUR_MILLIS + 600_000]);
      seen.push(await look(windows), await look(windows));
      now += 61_000;
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5].flatMap((hour) => [[hour], []]));
    expect(windows.watermark.get(0)).toBeGreaterThan(2);
  });

  it("are remembered over restarts by the counts of their runs", async () => {
    const first = tracker();
    await insert([NOON + 600_000, NOON + HOUR_MILLIS + 600_000, NOON + 2 * HOUR_MILLIS + 600_000]);
    expect(await look(first)).toEqual([0, 1, 2]);
    await publish(first, 0);
    await publish(first, 2);
    await insert([NOON + 2 * HOUR_MILLIS + 630_000]);
    const second = tracker();
    expect(await look(second)).toEqual([1, 2]);
    expect(await look(second)).toEqual([]);
  });

  it("begin again with a new bus", async () => {
    const first = tracker();
    await insert([NOON + 600_000], 1000);
    await look(first);
    await publish(first, 0);
    end = 0;
    const second = tracker();
    expect(await look(second)).toEqual([]);
    now += 61_000;
    await look(second);
    await insert([NOON - 600_000], 0);
    expect(await look(second)).toEqual([-1]);
  });

  it("settle when the newest scrape of every partition is later than them, or when the whole bus is stored", async () => {
    const windows = tracker();
    await insert([NOON + 600_000]);
    end = 5;
    await look(windows);
    expect(windows.passedMillis).toBe(NOON + 600_000);
    end = 1;
    await look(windows);
    expect(windows.passedMillis).toBe(now);
  });
});
