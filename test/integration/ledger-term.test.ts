import { describe, expect, it, onTestFinished } from "vitest";
import { WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import { newRunId, publishRun } from "../../processors/ledger/runs/runs.ts";
import { hoursToMeter, readLives } from "../../processors/ledger/hours/hours-to-meter.ts";
import { createTestDatabase } from "../support/database.ts";
import { storeScenario } from "../support/play.ts";
import { dirtyFactsOf, FLEET, LONG, NOW, startTerm, storeWorkloads, teamsOf } from "../support/term-at-work.ts";
import { workloadFact } from "../support/facts.ts";
import { insertWorkloads } from "../support/insert-facts.ts";
import { hourOf } from "../../domain/time.ts";

describe("the ledger of a term", () => {
  it("is metered and charged hour by hour, and the running hour up to now", async () => {
    const { store, errors } = await startTerm("term_hours");
    await expect.poll(() => teamsOf(store), LONG).toContain("vision 1");
    expect(errors).toEqual([]);
  });

  it("begins, after a crash, with the facts whose hours were not all metered", async () => {
    const store = await createTestDatabase("term_after_crash");
    onTestFinished(() => store.close());
    await storeScenario(store, FLEET);
    const facts = dirtyFactsOf(store, NOW);
    const [first, ...others] = await facts.look();
    expect(others.length).toBeGreaterThan(0);
    for (const window of others) facts.settle(window);
    expect(facts.watermark.size).toBe(0);
    expect(await facts.look()).toEqual([]);
    facts.settle(first!);
    expect(facts.watermark.size).toBeGreaterThan(0);
  });

  it("finds late facts of a new bus, and no more of the earlier bus", async () => {
    const store = await createTestDatabase("term_bus_anew");
    onTestFinished(() => store.close());
    const now = FLEET.period.end;
    await storeScenario(store, FLEET, WORKLOADS_TOPIC);
    await storeWorkloads(store, 500);
    const run = { cluster: "default", windowStart: hourOf(now), runId: newRunId(), generation: 1, publishedAt: now };
    const content = { scrapes: 0, rows: 0, hash: "0" };
    // The newest run has the position of the facts that were examined, for each of their topics.
    for (const [generation, mark] of [
      [1, 900],
      [2, 505],
    ] as const) {
      const watermark = new Map([0, 1_000_000, 2_000_000].map((place) => [place, mark]));
      await publishRun(store, "usage", { ...run, generation, watermark }, content);
    }
    expect(await dirtyFactsOf(store, NOW).look()).toEqual([]);

    const [empty, anew] = [dirtyFactsOf(store, now, 0), dirtyFactsOf(store, now, 10)];
    expect(await empty.look()).toEqual([]);
    for (const window of await anew.look()) anew.settle(window);
    await storeWorkloads(store, 2);
    const found = await anew.look();
    expect(found.length).toBeGreaterThan(0);
    expect(await anew.look()).toEqual([]);
    for (const window of found) anew.settle(window);
    expect(anew.watermark.get(0)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...anew.watermark.values())).toBeLessThan(10);
  });

  it("is computed again for the hours of a pod that was unknown when they were computed", async () => {
    const { store, errors } = await startTerm("term_strangers", WORKLOADS_TOPIC);
    // Only the exporter's labels name the holder, without an end: the hour after its samples is held too.
    const kinds = "SELECT DISTINCT JSONExtractString(arrayJoin(claims), 'kind') AS kind FROM usage_hours_published";
    await expect.poll(() => store.query(kinds), LONG).toEqual([{ kind: "stranger" }]);
    await expect.poll(async () => (await teamsOf(store))[0], LONG).toMatch(/^vision 2\.0/);

    await storeWorkloads(store);
    await expect.poll(() => store.query(kinds), LONG).toEqual([{ kind: "pod" }]);
    await expect.poll(() => teamsOf(store), LONG).toContain("vision 1");
    expect(errors).toEqual([]);
  });

  it("changes the hours after the end of a pod that was unknown, if its label is in them and no other pod explains it", async () => {
    const HOUR = 3_600_000;
    const { start } = FLEET.period;
    const hoursOf = async (database: string, labelled: readonly [hour: number, pod: string][], known = false) => {
      const store = await createTestDatabase(database);
      onTestFinished(() => store.close());
      await storeScenario(store, FLEET, WORKLOADS_TOPIC);
      for (const [hour, pod] of labelled)
        await store.command(
          `INSERT INTO gpu_samples SELECT * REPLACE (addHours(scraped_at, {hour:Int64}) AS scraped_at, {pod:String} AS pod, '' AS pod_uid) FROM gpu_samples WHERE pod = 'v-0'`,
          { hour, pod },
        );
      if (known) {
        const times = { created: start + 18 * HOUR, scheduled: start + 19 * HOUR, started: start + 19 * HOUR };
        await insertWorkloads(store, [
          workloadFact({ cluster: "default", uid: "later", namespace: "vision", name: "v-0", node: "gpu-a", times }),
        ]);
      }
      const facts = dirtyFactsOf(store, start + 48 * HOUR);
      await facts.look();
      await storeWorkloads(store);
      return (await facts.look()).map(({ windowStart }) => (windowStart - start) / HOUR).toSorted((a, b) => a - b);
    };
    // The label's last sample counts for 10 minutes and the longest reach, of 2.5 hours.
    expect(await hoursOf("term_unlabelled", [[9, "other"]])).toEqual([0, 1, 2, 3]);
    expect(await hoursOf("term_labelled", [[20, "v-0"]])).toEqual([0, 1, 2, 3, 20, 21, 22, 23]);
    expect(await hoursOf("term_explained", [[20, "v-0"]], true)).toEqual([0, 1, 2, 3]);
  });

  it("meters an hour that a killed leader has left with rollups alone, though a later hour is metered", async () => {
    const { start } = FLEET.period;
    const [HOUR, now] = [3_600_000, start + 5.5 * 3_600_000];
    const store = await createTestDatabase("term_rollups_alone");
    onTestFinished(() => store.close());
    await storeScenario(store, FLEET);
    const run = (hour: number) => ({
      cluster: "default",
      windowStart: start + hour * HOUR,
      runId: newRunId(),
      generation: 1,
      publishedAt: now,
      watermark: new Map(),
    });
    await publishRun(store, "rollup", run(1), { scrapes: 1, rows: 1, hash: "0" });
    await publishRun(store, "rollup", run(2), { scrapes: 1, rows: 0, hash: "0" });
    await publishRun(store, "usage", run(3), { scrapes: 0, rows: 1, hash: "0" });
    const lives = await readLives(store, { since: start, now }, 24 * HOUR);
    const { due } = hoursToMeter(lives, now, start);
    expect(due.map(({ windowStart }) => (windowStart - start) / HOUR)).toEqual([1, 4, 5]);
  });

  it("ends when the clock is set back, and the runs of the next term count", async () => {
    const { store, errors, clock, begin, done } = await startTerm("term_set_back");
    await expect.poll(() => teamsOf(store), LONG).toContain("vision 1");
    clock.offset -= 1_800_000;
    await done;
    await storeWorkloads(store);
    const runs = () =>
      store.query(
        `SELECT DISTINCT generation FROM runs WHERE run_id IN (SELECT run_id FROM charge_runs) ORDER BY generation`,
      );
    expect(await runs()).toEqual([{ generation: "1" }]);
    void begin(2);
    await expect.poll(runs, LONG).toContainEqual({ generation: "2" });
    expect(await teamsOf(store)).toContain("vision 1");
    expect(errors).toEqual([]);
  });
});
