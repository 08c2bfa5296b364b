import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SUPERSEDED_KEPT_MILLIS, dropSuperseded } from "../../processors/ledger/term/superseded.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { playScenario, scenarioFiles } from "../support/play-ledger.ts";

const KILLS = Number(process.env["LEDGER_KILLS"] ?? 48);
const FILE = "xid-and-cordon.yaml";
const { scenario } = scenarioFiles().find(({ file }) => file === FILE)!;
const built = (path: string): string => JSON.stringify(pathToFileURL(resolve("dist", path)).href);

/** A process that meters and charges the scenario's hours with the built code, a number of times. */
const LEDGER = `
  const { createStoreClient } = await import(${built("runtime/store/client.js")});
  const { computeLedger } = await import(${built("processors/ledger/hours/compute-hour.js")});
  const { ledgerRules } = await import(${built("processors/ledger/charging/rules.js")});
  const { NOTHING_CLOSED: closed } = await import(${built("processors/ledger/closed/closed.js")});
  const { createFrozenWeights } = await import(${built("processors/ledger/closed/frozen.js")});
  const { readScenario } = await import(${built("scenarios/read.js")});
  const { rulesOf } = await import(${built("scenarios/rules.js")});
  const { readFileSync } = await import("node:fs");
  const [connection, file, hours, turns] = process.argv.slice(1).map((text) => JSON.parse(text));
  const rules = ledgerRules(rulesOf(readScenario(readFileSync(file, "utf8"), file)), "");
  const store = createStoreClient(connection);
  const weights = createFrozenWeights(store);
  process.stdout.write("ready\\n");
  for (let turn = 0; turn < turns; turn += 1) {
    for (const windowStart of hours) {
      const asked = { generation: Date.now(), facts: new Map(), now: windowStart + 86400000, closed, weights };
      await computeLedger(store, { cluster: "default", windowStart }, rules, asked);
      process.stdout.write("hour\\n");
    }
  }
  await store.close();
`;

describe("a meter that is killed at any point", () => {
  let embedded: TestStore;
  let store: StoreClient;

  beforeAll(async () => {
    embedded = await startTestStore();
    store = await createTestDatabase("killed", embedded);
  });
  afterAll(async () => {
    await store.close();
    await embedded.stop();
  });

  /** The data of each hour that readers see: rows and a hash of them, by table. */
  async function published(): Promise<readonly object[]> {
    const of = (table: string): string => `
      SELECT '${table}' AS found, toString(toStartOfHour(from_at)) AS hour, count() AS lines,
        sum(cityHash64(toString(tuple(* EXCEPT run_id)))) AS hash
      FROM ${table}_published GROUP BY hour`;
    return store.query(`SELECT * FROM (${of("usage_hours")} UNION ALL ${of("charges")}) ORDER BY found, hour`);
  }

  function startLedger(turns: number): ChildProcess & { readonly stdout: Readable } {
    const hours: number[] = [];
    for (let hour = scenario.period.start; hour < scenario.period.end; hour += 3_600_000) hours.push(hour);
    const connection = { url: embedded.url, ...embedded.user, database: store.database };
    const given = [connection, `test/scenarios/${FILE}`, hours, turns].map((value) => JSON.stringify(value));
    return spawn(process.execPath, ["--input-type=module", "-e", LEDGER, ...given], {
      stdio: ["ignore", "pipe", "inherit"],
    });
  }

  /** The times of a ledger's first lines: that it is ready, then each hour that it has computed. */
  async function timesOf(child: { readonly stdout: Readable }, lines: number): Promise<readonly number[]> {
    const times: number[] = [];
    for await (const _ of createInterface(child.stdout)) {
      if (times.push(performance.now()) === lines) break;
    }
    return times;
  }

  /** Kills a ledger that has computed some hours, some milliseconds into the next one. */
  async function killAfter(hours: number, millis: number): Promise<void> {
    const child = startLedger(1_000);
    const gone = once(child, "exit");
    await timesOf(child, 1 + hours);
    await delay(millis);
    child.kill("SIGKILL");
    expect(await gone).toEqual([null, "SIGKILL"]);
  }

  /** The duration of an hour's computation, with other work on the machine. */
  async function millisOfHour(): Promise<number> {
    const child = startLedger(1_000);
    const times = await timesOf(child, 4);
    child.kill("SIGKILL");
    await once(child, "exit");
    return (times[3]! - times[1]!) / 2;
  }

  it(`publishes each hour completely or not at all, with the same result each time, over ${KILLS} kills`, async () => {
    const { breaches } = await playScenario(store, scenario);
    expect(breaches).toEqual([]);
    const whole = await published();
    expect(whole.length).toBeGreaterThan(2);
    const hourMillis = await millisOfHour();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await killAfter(kill % 4 === 0 ? 1 : 0, (kill * 0.37 * hourMillis) % hourMillis);
      expect(await published()).toEqual(whole);
    }
    const [runs] = await store.query<{ contents: string; published: string; unpublished: string }>(`
      SELECT uniqExactIf((kind, window_start, rows, hash), kind != 'started') AS contents,
        countIf(kind != 'started') AS published, count() - 2 * published AS unpublished FROM runs`);
    expect(Number(runs!.contents)).toBe(whole.length);
    expect(Number(runs!.published)).toBeGreaterThan(KILLS / 4);
    expect(Number(runs!.unpublished)).toBeGreaterThan(KILLS / 4);
  });

  it("leaves nothing behind: unpublished rows are dropped, and the rows that readers see stay", async () => {
    expect(await once(startLedger(1), "exit")).toEqual([0, null]);
    const before = await published();
    expect(await dropSuperseded(store, Date.now() + 2 * SUPERSEDED_KEPT_MILLIS)).toBeGreaterThan(KILLS / 2);
    expect(await published()).toEqual(before);
    const [left] = await store.query(`
      SELECT (SELECT uniqExact(run_id) FROM usage_hours) AS usage, (SELECT uniqExact(run_id) FROM charges) AS charge`);
    const hours = String(before.length / 2);
    expect(left).toEqual({ usage: hours, charge: hours });
  });
});
