import { describe, expect, it } from "vitest";
import { WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { LedgerRules } from "../../processors/ledger/charging/rules.ts";
import { staleCharges } from "../../processors/ledger/hours/stale-hours.ts";
import { createRecharge, type Recharge } from "../../processors/ledger/term/recharge.ts";
import { dirtyFactsOf, FLEET, LONG, NOW, RARELY, startTerm, storeWorkloads, teamsOf } from "../support/term-at-work.ts";

describe("the ledger of a term, at length", () => {
  it("leaves an hour as it was metered if its raw rows are gone, with any later facts", async () => {
    const { store, errors, begin, done } = await startTerm("term_raw_gone", WORKLOADS_TOPIC);
    const whole = `FROM usage_hours_published WHERE from_at < fromUnixTimestamp64Milli(${FLEET.period.end})`;
    const usage = () => store.query(`SELECT * EXCEPT run_id ${whole} ORDER BY ALL`);
    await expect.poll(async () => (await teamsOf(store))[0], LONG).toMatch(/^vision 2\.0/);
    const before = await usage();
    for (const table of ["scrapes", "gpu_samples"]) await store.command(`TRUNCATE TABLE ${table}`);
    await storeWorkloads(store);
    expect(await dirtyFactsOf(store, NOW).look()).not.toEqual([]);
    void begin(2);
    await done;
    // They have been examined, and are settled.
    await expect.poll(() => dirtyFactsOf(store, NOW).look(), LONG).toEqual([]);
    expect(await usage()).toEqual(before);
    expect(errors).toEqual([]);
  });

  it("sends few queries to the store while nothing is written", async () => {
    const { store, asked, errors, begin, done } = await startTerm("term_quiet");
    void begin(2, { timing: RARELY });
    await done;
    await expect.poll(() => teamsOf(store), LONG).toContain("vision 1");
    const beginsLook = (sql: string): boolean => sql.includes("max(generation)");
    const looks = (): number => asked.filter(beginsLook).length;
    const whole = (): number => asked.filter((sql) => sql.includes("made_of")).length;
    const quiet = async (): Promise<boolean> => {
      const [before, from] = [whole(), looks()];
      await expect.poll(looks, LONG).toBeGreaterThan(from + 3);
      return whole() === before;
    };
    await expect.poll(quiet, LONG).toBe(true);
    asked.length = 0;
    await expect.poll(looks, LONG).toBeGreaterThan(8);
    // Cached results are read again every five minutes, and these may end meanwhile.
    expect(whole()).toBeLessThanOrEqual(1);
    // Four queries are sent for a look, from its first query to that of the next look.
    const sent = asked.findLastIndex(beginsLook) - asked.findIndex(beginsLook);
    expect(sent / (looks() - 1)).toBeLessThan(5);
    expect(errors).toEqual([]);
  });

  it("charges hours by new rules if they could not be charged at first, even if that left no trace", async () => {
    const { store, errors, rules, begin, done } = await startTerm("term_recharge");
    await expect.poll(() => teamsOf(store), LONG).toContain("vision 1");
    const others: LedgerRules = { ...rules, hash: "others" };
    const made = createRecharge(store, others);
    /** The numbers of hours of the calls that failed. */
    const failed: number[] = [];
    const recharge: Recharge = {
      atOnce: 1,
      charge: (windows, turn) => {
        if (failed.length === 3) return made.charge(windows, turn);
        failed.push(windows.length);
        return Promise.reject(new Error("no thread is there"));
      },
    };
    // Its own facts are no reason to compute the hours again.
    await expect.poll(() => dirtyFactsOf(store, NOW).look(), LONG).toEqual([]);
    void begin(2, { timing: RARELY, ledger: { rules: others, meteredSince: () => 0, recharge } });
    await done;
    const stale = () => staleCharges(store, others, { from: -Infinity, openSince: -Infinity });
    await expect.poll(stale, LONG).toEqual([]);
    // Each failure is reported for each of its hours.
    expect(failed).toHaveLength(3);
    expect(errors).toEqual(
      failed.flatMap((hours) => Array.from({ length: hours }, () => new Error("no thread is there"))),
    );
  });

  it("meters an hour again that a fast clock had taken as ended", async () => {
    const { store, errors, clock, begin, done } = await startTerm("term_was_ahead", WORKLOADS_TOPIC);
    await expect.poll(async () => (await teamsOf(store))[0], LONG).toMatch(/^vision 2\.0/);
    clock.offset -= 1_800_000;
    await done;
    await storeWorkloads(store);
    void begin(2);
    const { end } = FLEET.period;
    const ofHour = `FROM usage_hours_published WHERE from_at >= fromUnixTimestamp64Milli(${end}) AND from_at < fromUnixTimestamp64Milli(${end + 3_600_000})`;
    // Its pods were gone by then: the hour after them has no holder, and half of it has passed.
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

  it("publishes the same with two terms at once, and the term that was superseded ends", async () => {
    const { store, errors, begin, done } = await startTerm("term_two");
    void begin(2);
    await done;
    await expect.poll(() => teamsOf(store), LONG).toContain("vision 1");
    const [runs] = await store.query<{ contents: string; windows: string }>(`
      SELECT uniqExact(kind, window_start, rows, hash) AS contents, uniqExact(kind, window_start) AS windows
      FROM runs WHERE kind IN ('usage', 'charge') AND window_end <= (SELECT max(window_start) FROM runs WHERE kind = 'usage')`);
    expect(runs!.contents).toBe(runs!.windows);
    expect(errors).toEqual([]);
  });
});
