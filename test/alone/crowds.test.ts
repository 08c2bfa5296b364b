import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { chargeBeside, effectively } from "../../domain/charge/charge.ts";
import { amountOf } from "../../domain/exact/units.ts";
import { insertCharges } from "../../processors/ledger/charging/charge-inserts.ts";
import { newRunId, publishRun } from "../../processors/ledger/runs/runs.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { NOON, PRICES_CONFIG } from "../support/pages-fleet.ts";
import { createReportsServer, FINANCE, type ReportsServer } from "../support/reports-server.ts";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";

const HOURS = 10;
const LINES_OF_HOUR = 100_000;
const TEAMS = 500;
const QUESTIONS = 40;
const EXPORTS = 30;
const DEPARTED = 200;
const MOST_SLOWER = 2;
/** The permitted delay of an insert. A processor inserts every 8 s, so its rows are as fresh as before. */
const MOST_LATER_MILLIS = 250;
/** Other programs can disturb a measurement. */
const TRIES = 5;

/** Publishes hours with many lines of many teams. */
async function bookHours(store: StoreClient): Promise<void> {
  const hour = { fromMillis: NOON - HOUR, untilMillis: NOON };
  const costs = effectively(amountOf<"currency">("0.25"));
  const line = chargeBeside({ cluster: "test", state: "non-gpu", costs, ...hour }, { price: "fixed[0]" });
  const one = newRunId();
  await insertCharges(store, { run: one, policy: "default", billingPeriod: Date.UTC(2026, 2, 1) }, [line]);
  for (let index = 1; index <= HOURS; index++) {
    const runId = newRunId();
    const windowStart = NOON - index * HOUR;
    await store.command(
      `INSERT INTO charges SELECT c.* REPLACE (toUUID({run:String}) AS run_id,
         concat('team-', toString(number % ${TEAMS})) AS team, concat('workload-', toString(number)) AS workload,
         fromUnixTimestamp64Milli({start:Int64}) AS from_at, fromUnixTimestamp64Milli({start:Int64} + ${HOUR}) AS until_at)
       FROM (SELECT * FROM charges WHERE run_id = toUUID({one:String})) AS c, numbers(${LINES_OF_HOUR}) AS n`,
      { run: runId, one, start: windowStart },
    );
    const run = { cluster: "test", windowStart, runId, generation: 1, watermark: new Map(), publishedAt: NOON };
    await publishRun(store, "charge", run, { scrapes: 0, rows: LINES_OF_HOUR, hash: "0" });
  }
}

describe(`${DEPARTED} departed requests and ${EXPORTS} exports of one caller`, () => {
  let store: StoreClient;
  let server: ReportsServer;
  let url: string;
  let asked = 0;

  beforeAll(async () => {
    store = await createTestDatabase("crowds");
    await bookHours(store);
    server = await createReportsServer(store, NOON, PRICES_CONFIG);
    server.viewer = FINANCE;
    url = await server.fastify.listen({ host: "127.0.0.1", port: 0 });
  }, 300_000);
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  const ask = (caller: string, path: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${url}/api/v1/${path}`, { headers: { "x-viewer": caller }, ...(signal === undefined ? {} : { signal }) });
  /** A question that nobody has asked before. */
  const freshQuestion = (): string =>
    `charges?span=2026-03&by=workload&limit=1&where=team=team-${(asked += 1) % TEAMS}`;

  /** The medians of a question's time for another caller, and of an insert's time, in milliseconds. */
  async function medians(): Promise<{ readonly question: number; readonly insert: number }> {
    const [questions, inserts]: [number[], number[]] = [[], []];
    for (let index = 0; index < QUESTIONS; index++) {
      const from = performance.now();
      const answer = await ask("other", freshQuestion());
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("workload-")]);
      questions.push(performance.now() - from);
      const before = performance.now();
      await store.insertJson("audit", [
        { at: new Date(NOON).toISOString(), who: "test", what: "export", why: "", subject: "", details: "{}" },
      ]);
      inserts.push(performance.now() - before);
      await pause(100);
    }
    const median = (of: readonly number[]): number => of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)]!;
    return { question: median(questions), insert: median(inserts) };
  }

  /** Starts the crowd: exports that are read to their end, and questions whose client leaves after 100 ms. Returns its end. */
  function startCrowd(): () => Promise<void> {
    const stopping = new AbortController();
    const exports = Array.from({ length: EXPORTS }, async () => {
      const answer = await ask("crowd", "charges/lines?span=2026-03&format=csv", stopping.signal);
      for await (const part of answer.body!) void part;
    });
    const departed = async (): Promise<void> => {
      for (let index = 0; index < DEPARTED && !stopping.signal.aborted; index++) {
        const path = `charges?span=2026-03&by=team,workload&limit=1&where=workload!=workload-${(asked += 1)}`;
        await ask("crowd", path, AbortSignal.timeout(100)).catch(() => undefined);
      }
    };
    const all = Promise.allSettled([...exports, departed()]);
    return async () => {
      stopping.abort();
      await all;
    };
  }

  it("do not slow down another caller, or the inserts of a processor", async () => {
    await medians();
    let slower: { question: number; insertMillis: number };
    let tries = 0;
    do {
      const quiet = await medians();
      const end = startCrowd();
      const crowded = await medians();
      await end();
      process.stdout.write(`medians in ms, quiet and crowded: ${JSON.stringify([quiet, crowded])}\n`);
      slower = { question: crowded.question / quiet.question, insertMillis: crowded.insert - quiet.insert };
      tries += 1;
    } while (tries < TRIES && (slower.question >= MOST_SLOWER || slower.insertMillis >= MOST_LATER_MILLIS));
    const running = "SELECT count() AS running FROM system.processes WHERE query LIKE '%workload%'";
    await vi.waitFor(async () => expect(await store.query(running)).toEqual([{ running: "1" }]), {
      timeout: 10_000,
      interval: 100,
    });
    expect(slower.question).toBeLessThan(MOST_SLOWER);
    expect(slower.insertMillis).toBeLessThan(MOST_LATER_MILLIS);
  });
});
