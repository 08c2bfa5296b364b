import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { chargeBeside, effectively } from "../../domain/charge/charge.ts";
import { amountOf } from "../../domain/exact/units.ts";
import { insertCharges } from "../../processors/ledger/charging/charge-inserts.ts";
import { newRunId, publishRun } from "../../processors/ledger/hours/runs.ts";
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

  it("do not slow down another caller, or the inserts of a processor", async () => {
    await medians();
    const quiet = await medians();
    const stopping = new AbortController();
    const exports = Array.from({ length: EXPORTS }, async (_, index) => {
      const answer = await ask(
        "crowd",
        `charges/lines?span=2026-03&format=csv&where=cluster=test&policy=default#${index}`,
        stopping.signal,
      );
      let bytes = 0;
      for await (const part of answer.body!) bytes += part.length;
      return bytes;
    }).map((each) => each.catch(() => undefined));
    const departed = (async () => {
      for (let index = 0; index < DEPARTED; index++) {
        const leaving = new AbortController();
        const answer = ask(
          "crowd",
          `charges?span=2026-03&by=team,workload&limit=1&where=workload!=workload-${index}`,
          leaving.signal,
        );
        setTimeout(() => leaving.abort(), 100);
        await answer.catch(() => undefined);
      }
    })();
    const crowded = await medians();
    process.stdout.write(
      `median of a question ${quiet.question.toFixed(0)} → ${crowded.question.toFixed(0)} ms, of an insert ${quiet.insert.toFixed(0)} → ${crowded.insert.toFixed(0)} ms\n`,
    );
    stopping.abort();
    await Promise.all([...exports, departed]);
    const running = "SELECT count() AS running FROM system.processes WHERE query NOT LIKE '%system.processes%'";
    await vi.waitFor(async () => expect(await store.query(running)).toEqual([{ running: "0" }]), {
      timeout: 10_000,
      interval: 100,
    });
    expect(crowded.question).toBeLessThan(MOST_SLOWER * quiet.question);
    expect(crowded.insert).toBeLessThan(MOST_SLOWER * quiet.insert);
  });
});
