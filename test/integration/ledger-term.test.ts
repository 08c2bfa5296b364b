import { describe, expect, it, onTestFinished } from "vitest";
import { WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import { createMonth } from "../../processors/charges/month.ts";
import { createDirtyFacts } from "../../processors/dirty-facts.ts";
import { readFact } from "../../processors/facts.ts";
import { ledgerRules, staleCharges, type LedgerRules } from "../../processors/ledger-window.ts";
import { createRecharge, type Recharge } from "../../processors/recharge.ts";
import { SCHEDULE_TIMING } from "../../processors/rollup/schedule.ts";
import { hourOf } from "../../processors/rollup/window.ts";
import { newRunId, publishRun } from "../../processors/runs.ts";
import { TERM_TIMING, workTerm, type TermEvents, type TermLedger } from "../../processors/term-work.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { factsOf } from "../../scenarios/play/facts.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import { createTestDatabase } from "../support/database.ts";
import { FACTS_END, openTestBus, withFactsStored } from "../support/pipeline.ts";
import { scenarioFiles } from "../support/play-ledger.ts";
import { storeScenario } from "../support/play.ts";

const LONG = { timeout: 30_000, interval: 200 };
const QUICK = {
  ...SCHEDULE_TIMING,
  ...TERM_TIMING,
  refreshMillis: 1_000,
  quietMillis: 50,
  lookMillis: 250,
  dropMillis: 1e9,
};
/** The hour that runs is charged once. */
const RARELY = { ...QUICK, refreshMillis: 60_000 };
const SILENT: TermEvents = {
  onRun: () => {},
  onCharged: () => {},
  onLooked: () => {},
  onWaiting: () => {},
  onDropped: () => {},
  onError: () => {},
};

describe("the ledger of a term", () => {
  let stores = 0;

  /** A term at work, an hour after a scenario's end by a clock that a test can set. */
  async function work(scenario: Scenario, without?: string) {
    const store = await createTestDatabase(`term_${(stores += 1)}`);
    const { bus, close } = await openTestBus();
    await storeScenario(store, scenario, without);
    const clock = { offset: scenario.period.end + 3_600_000 - Date.now() };
    const errors: unknown[] = [];
    const rules = ledgerRules(rulesOf(scenario), "rules");
    const abort = new AbortController();
    const asked: string[] = [];
    const query: StoreClient["query"] = (sql, parameters) => {
      asked.push(sql);
      return store.query(sql, parameters);
    };
    const options = {
      bus: withFactsStored(bus),
      store: { ...store, query },
      now: () => Date.now() + clock.offset,
      timing: QUICK,
      events: { ...SILENT, onError: (error: unknown) => errors.push(error) },
      ledger: { rules, meteredSince: () => 0 },
    };
    const terms: Promise<void>[] = [];
    const begin = (
      generation: number,
      others: Partial<typeof options & { ledger: TermLedger }> = {},
    ): Promise<void> => {
      const term = workTerm({ ...options, ...others }, { generation, signal: abort.signal });
      terms.push(term);
      return term;
    };
    const done = begin(1);
    onTestFinished(async () => {
      abort.abort();
      await Promise.all(terms);
      await store.close();
      await close();
    });
    return { store, asked, errors, rules, now: scenario.period.end + 3_600_000, clock, begin, done };
  }

  const { scenario } = scenarioFiles().find(({ file }) => file === "by-usage.yaml")!;
  const teams = async (store: StoreClient, now: number): Promise<readonly string[]> => {
    const { teams: all } = await createMonth(store, "default").refresh(now);
    return all.map(({ team, cost }) => `${team} ${cost}`);
  };

  const dirtyFacts = (store: StoreClient, now: number, end = FACTS_END) =>
    createDirtyFacts({ store, ends: () => Promise.resolve(new Map([[0, end]])), now: () => now });

  /** Facts that come late, at places of the bus from `first` on: what is known of the scenario's pods. */
  async function storeWorkloads(store: StoreClient, first = 100): Promise<void> {
    const late = [...factsOf(scenario)].filter(({ topic }) => topic === WORKLOADS_TOPIC);
    const rows = late.flatMap((message, index) => {
      const read = readFact({ ...message, intact: true });
      return read.kind === "ok" ? [{ ...read.value.row, partition: 0, position: first + index }] : [];
    });
    await store.insertJson("workload_facts", rows);
  }

  it("is metered and charged hour by hour, and the hour that runs up to now", async () => {
    const { store, errors, now } = await work(scenario);
    await expect.poll(() => teams(store, now), LONG).toContain("vision 2");
    expect(errors).toEqual([]);
  });

  it("begins, after a crash, with the facts whose hours were not all metered", async () => {
    const store = await createTestDatabase(`term_${(stores += 1)}`);
    onTestFinished(() => store.close());
    await storeScenario(store, scenario);
    const facts = dirtyFacts(store, scenario.period.end);
    const [first, ...others] = await facts.look();
    expect(others.length).toBeGreaterThan(0);
    for (const window of others) facts.settle(window);
    expect(facts.watermark.size).toBe(0);
    expect(await facts.look()).toEqual([]);
    facts.settle(first!);
    expect(facts.watermark.size).toBeGreaterThan(0);
  });

  it("finds late facts of a bus that was made anew, and those of the bus before no more", async () => {
    const store = await createTestDatabase(`term_${(stores += 1)}`);
    onTestFinished(() => store.close());
    const now = scenario.period.end;
    await storeScenario(store, scenario, WORKLOADS_TOPIC);
    await storeWorkloads(store, 500);
    const run = { cluster: "default", windowStart: hourOf(now), runId: newRunId(), generation: 1, publishedAt: now };
    const content = { scrapes: 0, rows: 0, hash: "0" };
    // The newest run tells how far facts had been looked at, in each of their topics.
    for (const [generation, mark] of [
      [1, 900],
      [2, 505],
    ] as const) {
      const watermark = new Map([0, 1_000_000, 2_000_000].map((place) => [place, mark]));
      await publishRun(store, "usage", { ...run, generation, watermark }, content);
    }
    expect(await dirtyFacts(store, now).look()).toEqual([]);

    const [empty, anew] = [dirtyFacts(store, now, 0), dirtyFacts(store, now, 10)];
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

  it("leaves an hour as it was metered where raw rows are gone, whatever is known of it later", async () => {
    const { store, errors, begin, done, now } = await work(scenario, WORKLOADS_TOPIC);
    const whole = `FROM usage_hours_published WHERE from_at < fromUnixTimestamp64Milli(${scenario.period.end})`;
    const usage = () => store.query(`SELECT * EXCEPT run_id ${whole} ORDER BY ALL`);
    await expect.poll(async () => (await teams(store, now))[0], LONG).toMatch(/^vision 3\.0/);
    const before = await usage();
    for (const table of ["scrapes", "gpu_samples"]) await store.command(`TRUNCATE TABLE ${table}`);
    await storeWorkloads(store);
    expect(await dirtyFacts(store, now).look()).not.toEqual([]);
    void begin(2);
    await done;
    // They have been looked at, and are settled.
    await expect.poll(() => dirtyFacts(store, now).look(), LONG).toEqual([]);
    expect(await usage()).toEqual(before);
    expect(errors).toEqual([]);
  });

  it("is made again for the hours of a pod of which nothing was known by then", async () => {
    const { store, errors, now } = await work(scenario, WORKLOADS_TOPIC);
    // The exporter's labels alone tell who holds it, and nothing says until when: the hour after its samples is held too.
    const kinds = "SELECT DISTINCT JSONExtractString(arrayJoin(claims), 'kind') AS kind FROM usage_hours_published";
    await expect.poll(() => store.query(kinds), LONG).toEqual([{ kind: "stranger" }]);
    await expect.poll(async () => (await teams(store, now))[0], LONG).toMatch(/^vision 3\.0/);

    await storeWorkloads(store);
    await expect.poll(() => store.query(kinds), LONG).toEqual([{ kind: "pod" }]);
    await expect.poll(() => teams(store, now), LONG).toContain("vision 2");
    expect(errors).toEqual([]);
  });

  it("asks little of the store while nothing is written", async () => {
    const { store, asked, errors, begin, done, now } = await work(scenario);
    void begin(2, { timing: RARELY });
    await done;
    await expect.poll(() => teams(store, now), LONG).toContain("vision 2");
    const looks = (): number => asked.filter((sql) => sql.includes("max(generation)")).length;
    const whole = (): number => asked.filter((sql) => sql.includes("made_of")).length;
    const quiet = async (): Promise<boolean> => {
      const [before, from] = [whole(), looks()];
      await expect.poll(looks, LONG).toBeGreaterThan(from + 3);
      return whole() === before;
    };
    await expect.poll(quiet, LONG).toBe(true);
    asked.length = 0;
    await expect.poll(looks, LONG).toBeGreaterThan(8);
    // What is read is read again every five minutes, and these may end meanwhile.
    expect(whole()).toBeLessThanOrEqual(1);
    expect(asked.length / looks()).toBeLessThan(4);
    expect(errors).toEqual([]);
  });

  it("charges again by other rules what could not be charged at first, though that left no trace", async () => {
    const { store, errors, rules, begin, done, now } = await work(scenario);
    await expect.poll(() => teams(store, now), LONG).toContain("vision 2");
    const others: LedgerRules = { ...rules, hash: "others" };
    const made = createRecharge(store, others);
    let failures = 0;
    const recharge: Recharge = {
      atOnce: 1,
      charge: (window, turn) =>
        failures++ < 12 ? Promise.reject(new Error("no thread is there")) : made.charge(window, turn),
    };
    // Its own facts are no reason to make them again.
    await expect.poll(() => dirtyFacts(store, now).look(), LONG).toEqual([]);
    void begin(2, { timing: RARELY, ledger: { rules: others, meteredSince: () => 0, recharge } });
    await done;
    const stale = () => staleCharges(store, others, { from: -Infinity, openSince: -Infinity });
    await expect.poll(stale, LONG).toEqual([]);
    expect(errors).toEqual(Array.from({ length: 12 }, () => new Error("no thread is there")));
  });

  it("ends where the clock is set back, and what the next one publishes counts", async () => {
    const { store, errors, clock, begin, done, now } = await work(scenario);
    await expect.poll(() => teams(store, now), LONG).toContain("vision 2");
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
    expect(await teams(store, now)).toContain("vision 2");
    expect(errors).toEqual([]);
  });

  it("meters an hour again that a clock which was ahead had taken for over", async () => {
    const { store, errors, clock, begin, done, now } = await work(scenario, WORKLOADS_TOPIC);
    await expect.poll(async () => (await teams(store, now))[0], LONG).toMatch(/^vision 3\.0/);
    clock.offset -= 1_800_000;
    await done;
    await storeWorkloads(store);
    void begin(2);
    const { end } = scenario.period;
    const ofHour = `FROM usage_hours_published WHERE from_at >= fromUnixTimestamp64Milli(${end}) AND from_at < fromUnixTimestamp64Milli(${end + 3_600_000})`;
    // Its pods were gone by then: nobody holds the hour after them, of which half has passed.
    const hour = `SELECT sum(length(claims)) AS claims, max(until_at) < fromUnixTimestamp64Milli(${end + 3_600_000}) AS runs ${ofHour}`;
    await expect.poll(() => store.query(hour), LONG).toEqual([{ claims: "0", runs: 1 }]);
    clock.offset += 1_800_000;
    await expect
      .poll(
        () => store.query(`SELECT max(until_at) = fromUnixTimestamp64Milli(${end + 3_600_000}) AS whole ${ofHour}`),
        LONG,
      )
      .toEqual([{ whole: 1 }]);
    expect(errors).toEqual([]);
  });

  it("of which two are at work at once publishes the same, and the one that was followed ends", async () => {
    const { store, errors, begin, done, now } = await work(scenario);
    void begin(2);
    await done;
    await expect.poll(() => teams(store, now), LONG).toContain("vision 2");
    const [runs] = await store.query<{ contents: string; windows: string }>(`
      SELECT uniqExact(kind, window_start, rows, hash) AS contents, uniqExact(kind, window_start) AS windows
      FROM runs WHERE kind IN ('usage', 'charge') AND window_end <= (SELECT max(window_start) FROM runs WHERE kind = 'usage')`);
    expect(runs!.contents).toBe(runs!.windows);
    expect(errors).toEqual([]);
  });
});
