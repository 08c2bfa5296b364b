import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROLLUP_COLUMNS } from "../../runtime/store/schema/rollups.ts";
import { FIVE_MINUTES_MILLIS } from "../../processors/ledger/runs/window.ts";
import { computeWindow } from "../../processors/ledger/rollup/rollups.ts";
import { announceRun, newRunId, type Run } from "../../processors/ledger/runs/runs.ts";
import { dropSuperseded } from "../../processors/ledger/term/superseded.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { insertRaw, rawFleet, type RawScrape } from "../support/raw-fleet.ts";
import { referenceRollup, type RollupRow } from "../support/rollup-reference.ts";
import { rounds } from "../support/rounds.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

const START = Date.UTC(2026, 2, 1, 12);
const NEXT = START + HOUR_MILLIS;

describe("a rollup", () => {
  let store: StoreClient;
  let clusters = 0;

  beforeAll(async () => {
    store = await createTestDatabase("rollups");
  });
  afterAll(async () => {
    await store.close();
  });

  const newCluster = (): string => `c${(clusters += 1)}`;
  const runOf = (cluster: string, given: Partial<Run> = {}): Run => ({
    cluster,
    windowStart: START,
    runId: newRunId(),
    generation: 1,
    watermark: new Map([[0, 100]]),
    publishedAt: NEXT,
    ...given,
  });
  const published = async (table: string, cluster: string, start = START): Promise<RollupRow[]> => {
    const rows = await store.query<Record<string, unknown>>(
      `SELECT ${ROLLUP_COLUMNS.join(", ")} FROM ${table} WHERE cluster = {cluster:String}
         AND bucket >= toDateTime({from:UInt32}) AND bucket < toDateTime({to:UInt32})`,
      { cluster, from: start / 1000, to: (start + HOUR_MILLIS) / 1000 },
    );
    return ordered(
      rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, text(value)]))),
    );
  };
  const expected = (scrapes: readonly RawScrape[], cluster: string, start: number, bucketMillis: number): RollupRow[] =>
    ordered(referenceRollup(scrapes.flat(), { cluster, start, end: start + HOUR_MILLIS, bucketMillis }));

  it("has exactly the rows of the plain definition, also with replays and late data", async () => {
    await fc.assert(
      fc.asyncProperty(rawFleet(NEXT), fc.integer({ min: 0, max: 60 }), async (scrapes, late) => {
        const cluster = newCluster();
        await insertRaw(store, cluster, scrapes.slice(late));
        await computeWindow(store, runOf(cluster));
        await insertRaw(store, cluster, scrapes.slice(0, late + 5), 1000);
        for (const windowStart of [START, NEXT]) {
          await computeWindow(store, runOf(cluster, { windowStart, publishedAt: NEXT + 1 }));
          const [short, long] = [FIVE_MINUTES_MILLIS, HOUR_MILLIS].map((bucket) =>
            expected(scrapes, cluster, windowStart, bucket),
          );
          expect(await published("gpu_5m_published", cluster, windowStart)).toEqual(short);
          expect(await published("gpu_hours_published", cluster, windowStart)).toEqual(long);
        }
      }),
      { numRuns: rounds(20), endOnFailure: true },
    );
  }, 240_000);

  /** An hour of one node, every half minute, in the form of a random fleet. */
  const plainHour = (): readonly RawScrape[] => {
    const [drawn] = fc.sample(
      rawFleet(START).filter((scrapes) => scrapes.length > 0),
      { numRuns: 1, seed: 7 },
    );
    const [sample] = drawn![0]!;
    return Array.from({ length: 120 }, (_, index) => [
      { ...sample!, t: START + index * 30_000, intervalMillis: 30_000, values: { energy_joules: index * 10 } },
    ]);
  };

  it("has the same rows and the same hash when it is computed twice, merged or not", async () => {
    const cluster = newCluster();
    const scrapes = plainHour();
    await insertRaw(store, cluster, scrapes);
    const first = await computeWindow(store, runOf(cluster));
    await insertRaw(store, cluster, scrapes.slice(30, 90), 500);
    const second = await computeWindow(store, runOf(cluster, { publishedAt: NEXT + 1 }));
    await store.command("OPTIMIZE TABLE gpu_samples FINAL");
    const third = await computeWindow(store, runOf(cluster, { publishedAt: NEXT + 2 }));
    expect([second, third]).toEqual([first, first]);
    expect(first).toMatchObject({ scrapes: 120, rows: 12 });
    expect(first.hash).not.toBe("0");
    await insertRaw(store, cluster, [[{ ...scrapes[0]![0]!, t: START + 15_000 }]], 900);
    const changed = await computeWindow(store, runOf(cluster, { publishedAt: NEXT + 3 }));
    expect(changed.hash).not.toBe(first.hash);
  });

  it("spreads 1190 joules of an hour over its buckets without losing one, with 30 s of unknown energy", async () => {
    const cluster = newCluster();
    await insertRaw(store, cluster, plainHour());
    await computeWindow(store, runOf(cluster));
    const [hour] = await published("gpu_hours_published", cluster);
    expect(hour).toMatchObject({ energy_mj: "1190000", energy_ms: "3570000", covered_ms: "3600000", samples: "120" });
    const buckets = await published("gpu_5m_published", cluster);
    expect(buckets.map(({ energy_mj }) => energy_mj)).toEqual([...Array.from({ length: 11 }, () => "100000"), "90000"]);
  });

  it("counts the increase up to a sample on the boundary of two buckets in the first of them", async () => {
    const cluster = newCluster();
    const scrapes = plainHour().map(([sample], index) => [{ ...sample!, values: { pcie_replay_total: index } }]);
    await insertRaw(store, cluster, scrapes);
    await computeWindow(store, runOf(cluster));
    const buckets = await published("gpu_5m_published", cluster);
    expect(buckets.map((row) => row["pcie_replay_increase"])).toEqual([...Array.from({ length: 11 }, () => "10"), "9"]);
    const [hour] = await published("gpu_hours_published", cluster);
    expect(hour).toMatchObject({ pcie_replay_increase: "119" });
  });

  it("shows nothing of a run that was not published, and is correct after the next one", async () => {
    const cluster = newCluster();
    await insertRaw(store, cluster, plainHour());
    const stopped = new AbortController();
    const broken = runOf(cluster);
    const crash = computeWindow(store, broken, stopped.signal);
    stopped.abort(new Error("stopped half-way"));
    await expect(crash).rejects.toThrow("stopped half-way");
    const left = `SELECT count() AS rows FROM gpu_5m WHERE run_id = toUUID({run:String})`;
    expect(await store.query(left, { run: broken.runId })).toEqual([{ rows: "12" }]);
    expect(await published("gpu_5m_published", cluster)).toEqual([]);
    await computeWindow(store, runOf(cluster, { publishedAt: NEXT + 1 }));
    expect(await published("gpu_5m_published", cluster)).toHaveLength(12);
    expect(await published("gpu_hours_published", cluster)).toHaveLength(1);
  });

  it("is that of the new leader if a former one wakes and publishes later", async () => {
    const cluster = newCluster();
    const scrapes = plainHour();
    await insertRaw(store, cluster, scrapes.slice(0, 60));
    await computeWindow(store, runOf(cluster, { generation: 4 }));
    await insertRaw(store, cluster, scrapes.slice(60), 60);
    await computeWindow(store, runOf(cluster, { generation: 5, publishedAt: NEXT + 1 }));
    const before = await published("gpu_hours_published", cluster);
    expect(before).toMatchObject([{ samples: "120" }]);
    await insertRaw(store, cluster, [[{ ...scrapes[0]![0]!, t: START + 15_000 }]], 500);
    await computeWindow(store, runOf(cluster, { generation: 4, publishedAt: NEXT + 60_000 }));
    expect(await published("gpu_hours_published", cluster)).toEqual(before);
  });

  it("keeps no run that was superseded or left unpublished an hour ago, and everything that readers see", async () => {
    const cluster = newCluster();
    await insertRaw(store, cluster, plainHour());
    const runs = [0, 1, 2].map((minute) => runOf(cluster, { publishedAt: NEXT + minute * 60_000 }));
    const lost = runOf(cluster, { publishedAt: NEXT + 90_000 });
    for (const run of runs) await computeWindow(store, run);
    const stopped = AbortSignal.abort(new Error("stopped"));
    await expect(computeWindow(store, lost, stopped)).rejects.toThrow("stopped");
    const alone = runOf(cluster, { windowStart: NEXT });
    await announceRun(store, alone);
    const before = await published("gpu_5m_published", cluster);
    const left = async (table: string): Promise<readonly unknown[]> =>
      (
        await store.query<{ run: string }>(
          `SELECT DISTINCT toString(run_id) AS run FROM ${table} WHERE cluster = {cluster:String} AND run_id IN {runs:Array(UUID)}`,
          { cluster, runs: [...runs, lost, alone].map(({ runId }) => runId) },
        )
      )
        .map(({ run }) => run)
        .toSorted();

    await dropSuperseded(store, NEXT + 62 * 60_000);
    // The second was superseded at minute 2, the first at minute 1: an hour later only the first is removed.
    expect(await left("gpu_5m")).toEqual([runs[1]!, runs[2]!, lost].map(({ runId }) => runId).toSorted());
    await dropSuperseded(store, NEXT + 63 * 60_000);
    expect(await left("gpu_5m")).toEqual([runs[2]!.runId]);
    expect(await left("gpu_hours")).toEqual([runs[2]!.runId]);
    expect(await left("runs")).toEqual([runs[2]!, alone].map(({ runId }) => runId).toSorted());
    expect(await published("gpu_5m_published", cluster)).toEqual(before);
    expect(before).toHaveLength(12);
  });
});

function text(value: unknown): string | null {
  return value === null ? null : String(value as string | number | boolean | readonly number[]);
}

function ordered(rows: readonly RollupRow[]): RollupRow[] {
  const key = (row: RollupRow): string => JSON.stringify(ROLLUP_COLUMNS.slice(0, 9).map((name) => row[name]));
  return rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}
