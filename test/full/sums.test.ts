import pino from "pino";
import { beforeEach, describe, expect, it } from "vitest";
import { chargeBeside, effectively } from "../../domain/charge/charge.ts";
import { lastUnits } from "../../domain/exact/units.ts";
import { insertCharges } from "../../processors/ledger/charging/charge-inserts.ts";
import { newRunId, publishRun } from "../../processors/ledger/runs/runs.ts";
import { dropSuperseded } from "../../processors/ledger/term/superseded.ts";
import { explain } from "../../reports/explain/read-explanation.ts";
import type { ReportQuestion } from "../../reports/question/question.ts";
import { readReport } from "../../reports/report/read-report.ts";
import { readCounted } from "../../reports/sums/counted.ts";
import { sumRuns, type CountedRun } from "../../reports/sums/make.ts";
import { createSums, type Sums } from "../../reports/sums/sums.ts";
import { smallestTable } from "../../reports/sums/tables.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { expectViewsOfLines } from "../support/books.ts";
import { createTestDatabase } from "../support/database.ts";
import { playScenario, scenarioFiles } from "../support/play-ledger.ts";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";

const MARCH_1 = Date.UTC(2026, 2, 1);
const MONTH = { name: "2026-03", from: MARCH_1, until: Date.UTC(2026, 3, 1) };
/** The end of the month's second day. */
const MARCH_3 = MARCH_1 + 48 * HOUR;
const QUESTION = { policy: "default", kind: "showback", span: MONTH, by: ["team"], where: [] } as const;

let store: StoreClient;
let sums: Sums;
let databases = 0;
let ledgerVersion = 0;

beforeEach(async () => {
  store = await createTestDatabase(`sums${(databases += 1)}`);
  sums = createSums(store, { logger: pino({ level: "silent" }), now: () => MARCH_3 });
  return async () => {
    await sums.stop();
    await store.close();
  };
});

/** Publishes a cost in an hour in place of the earlier one. */
async function book(windowStart: number, units: number, more: { readonly publishedAt?: number } = {}): Promise<string> {
  const costs = effectively(lastUnits<"currency">(BigInt(units) * 1_000_000_000n));
  const hour = { fromMillis: windowStart, untilMillis: windowStart + HOUR };
  const line = chargeBeside({ cluster: "test", state: "non-gpu", costs, ...hour }, { price: "fixed[0]" });
  const run = { cluster: "test", windowStart, runId: newRunId(), generation: 1 };
  await insertCharges(store, { run: run.runId, policy: "default", billingPeriod: MARCH_1 }, [line]);
  ledgerVersion += 1;
  const publishedAt = more.publishedAt ?? MONTH.until + ledgerVersion;
  await publishRun(store, "charge", { ...run, watermark: new Map(), publishedAt }, { scrapes: 0, rows: 1, hash: "0" });
  return run.runId;
}

interface Asked {
  readonly cost: string;
  readonly from: readonly string[];
  /** The number of parts that were added up. */
  readonly parts: number;
}

/** The result of a question by sums, with the tables that were read. */
async function ask(more: Partial<ReportQuestion> = {}): Promise<Asked> {
  const from: string[] = [];
  let parts = 0;
  const choose = sums.at(String(ledgerVersion));
  const { total } = await readReport(
    store,
    { ...QUESTION, ...more },
    { currency: "USD" },
    {
      isCompared: false,
      chooseTable: async (...asked) => {
        const table = await choose(...asked);
        from.push(table.name);
        parts += ((table.parameters["parts"] ?? []) as readonly string[]).length;
        return table;
      },
    },
  );
  return { cost: total.cost, from, parts };
}

/** The runs of the month without sums. */
async function unsummed(): Promise<readonly CountedRun[]> {
  return (await readCounted(store, QUESTION, MARCH_3)).unsummed;
}

describe("sums of published charges", () => {
  it("are made for a new run before a question is answered, and equal its lines", async () => {
    await book(MARCH_1, 3);
    expect(await ask()).toEqual({ cost: "3", from: ["charge_sums"], parts: 1 });
    await book(MARCH_1 + HOUR, 5);
    await book(MARCH_1, 40);
    expect(await ask()).toEqual({ cost: "45", from: ["charge_sums"], parts: 2 });
    expect(await unsummed()).toEqual([]);
  });

  it("answer with the earlier runs if a run was published since they were made", async () => {
    await book(MARCH_1, 3);
    await ask();
    await book(MARCH_1, 40);
    ledgerVersion -= 1;
    // A ledger version that was examined is not examined again: the hour has its earlier value, and is not missing.
    expect(await ask()).toMatchObject({ cost: "3" });
  });

  it("of a new run are made for the requested spans before its publication is announced", async () => {
    await book(MARCH_1, 3);
    await ask();
    await book(MARCH_1 + HOUR, 5);
    await sums.prepare(String(ledgerVersion));
    expect(await unsummed()).toEqual([]);
    // The result is cached: a run that is not in the ledger version does not count.
    await book(MARCH_1 + 2 * HOUR, 7);
    ledgerVersion -= 1;
    expect(await ask()).toEqual({ cost: "8", from: ["charge_sums"], parts: 2 });
  });

  it("are chosen if they have the requested dimensions, and lines otherwise", async () => {
    await book(MARCH_1, 3);
    const where = [{ dimension: "node", values: ["gpu-a"] }];
    expect((await ask({ by: ["team", "chargeDay", "unpriced"] })).from).toEqual(["charge_sums"]);
    expect((await ask({ by: ["workload"] })).from).toEqual(["charge_workload_sums"]);
    expect((await ask({ where })).from).toEqual(["charges_published"]);
    expect((await ask({ by: ["label.run"] })).from).toEqual(["charges_published"]);
  });

  it("that are made twice at once, or interrupted, count once", async () => {
    await book(MARCH_1, 3);
    await book(MARCH_1 + HOUR, 5);
    const runs = await unsummed();
    // The remains of a server that ended before it recorded which runs it had summed.
    const broken: StoreClient = {
      ...store,
      command: (sql, parameters) =>
        sql.includes("INTO charge_sum_parts") ? Promise.reject(new Error("ended")) : store.command(sql, parameters),
    };
    await expect(sumRuns(broken, runs)).rejects.toThrow("ended");
    await Promise.all([sumRuns(store, runs), sumRuns(store, runs)]);
    expect(await ask()).toEqual({ cost: "8", from: ["charge_sums"], parts: 2 });
    expect((await ask({ by: ["workload"] })).cost).toBe("8");
  });

  it("of many runs are made in the background, and lines are added up meanwhile", async () => {
    for (let hour = 0; hour < 30; hour += 1) await book(MARCH_1 + hour * HOUR, 1);
    expect(await ask()).toEqual({ cost: "30", from: ["charges_published"], parts: 0 });
    await sums.made();
    expect(await ask()).toEqual({ cost: "30", from: ["charge_sums"], parts: 30 });
  });

  it("are no longer made by a server that has stopped, which still answers", async () => {
    for (let hour = 0; hour < 30; hour += 1) await book(MARCH_1 + hour * HOUR, 1);
    await sums.stop();
    expect(await ask()).toEqual({ cost: "30", from: ["charges_published"], parts: 0 });
    await sums.made();
    expect(await unsummed()).toHaveLength(30);
  });

  it("of a day that is over are added up to one part, until a run of it is published again", async () => {
    for (let hour = 20; hour < 28; hour += 1) await book(MARCH_1 + hour * HOUR, 2 ** (hour - 20));
    await book(MARCH_3, 1_000);
    expect(await ask()).toMatchObject({ cost: "1255", parts: 9 });
    await sums.made();
    expect(await ask()).toMatchObject({ cost: "1255", parts: 3 });
    expect(await ask({ by: ["workload", "chargeDay"] })).toMatchObject({ cost: "1255", parts: 3 });
    // A span with a part of a day reads the hours of that day.
    const span = { name: "some", from: MARCH_1 + 22 * HOUR, until: MONTH.until };
    expect(await ask({ span })).toMatchObject({ cost: "1252", parts: 4 });
    expect(await ask({ kind: "chargeback" })).toMatchObject({ cost: "1255", parts: 3 });
    await book(MARCH_1 + 27 * HOUR, 500);
    expect(await ask()).toMatchObject({ cost: "1627", parts: 6 });
    await sums.made();
    expect(await ask()).toMatchObject({ cost: "1627", parts: 3 });
  });

  it("are removed an hour after their run was superseded, together with those of its day", async () => {
    const old = await book(MARCH_1, 3, { publishedAt: MARCH_1 + HOUR });
    await book(MARCH_1 + HOUR, 7);
    await ask();
    await sums.made();
    const renewed = await book(MARCH_1, 4, { publishedAt: MARCH_1 + 2 * HOUR });
    await store.insertJson("runs", [started(old), started(renewed)]);
    expect((await ask()).cost).toBe("11");
    await sums.made();
    const left = (): Promise<unknown> =>
      store.query(`SELECT (SELECT count() FROM charge_sums) AS sums, (SELECT count() FROM charge_workload_sums) AS more,
        (SELECT count() FROM charge_sum_parts) AS parts`);
    expect(await left()).toEqual([{ sums: "5", more: "5", parts: "5" }]);
    await dropSuperseded(store, MARCH_1 + 4 * HOUR);
    expect(await left()).toEqual([{ sums: "3", more: "3", parts: "3" }]);
    expect(await ask()).toMatchObject({ cost: "11", parts: 1 });
  });

  it("of this month and the one before are made without any request", async () => {
    await book(MARCH_1, 3);
    await book(MARCH_1 - HOUR, 5);
    await sums.prepare(String(ledgerVersion));
    await sums.made();
    const [made] = await store.query("SELECT count() AS parts FROM charge_sum_parts");
    expect(made).toEqual({ parts: "2" });
  });

  it("are read by dashboards, with lines for runs without sums, each run once", async () => {
    const { scenario } = scenarioFiles().find(({ file }) => file === "energy-of-a-shared-gpu.yaml")!;
    await playScenario(store, scenario);
    for (let hour = 0; hour < 4; hour += 1) await book(MARCH_1 + hour * HOUR, 1);
    await expectViewsOfLines(store);
    const [first, ...others] = await unsummed();
    await Promise.all([sumRuns(store, [first!]), sumRuns(store, [first!])]);
    await expectViewsOfLines(store);
    await sumRuns(store, others);
    await book(MARCH_1, 40);
    await expectViewsOfLines(store);
  });

  it("give the same explanation as lines", async () => {
    const { scenario } = scenarioFiles().find(({ file }) => file === "energy-of-a-shared-gpu.yaml")!;
    await playScenario(store, scenario);
    const { start, end } = scenario.period;
    const question = { ...QUESTION, span: { name: "", from: start, until: end } };
    const explanation = await explain(store, question, { chooseTable: sums.at("played") });
    expect(explanation.lines.length).toBeGreaterThan(3);
    expect(explanation).toEqual(await explain(store, question));
  });

  it("find the lines with the highest cost, the first ones of equal cost", async () => {
    for (let hour = 0; hour < 60; hour += 1) await book(MARCH_1 + hour * HOUR, hour === 30 ? 9 : hour % 12 < 3 ? 7 : 5);
    await sums.at("hours")(QUESTION, []);
    await sums.made();
    const explanation = await explain(store, QUESTION, { chooseTable: sums.at("days") });
    const hours = explanation.lines.map(({ from }) => (Date.parse(from) - MARCH_1) / HOUR);
    expect(hours).toEqual([30, 0, 1, 2, 12, 13, 14, 24, 25, 26]);
    expect(explanation).toEqual(await explain(store, QUESTION));
  });
});

it("the smallest table with all requested dimensions is chosen", () => {
  expect(smallestTable(["team", "state"])).toBe("charge_sums");
  expect(smallestTable(["team", "workload"])).toBe("charge_workload_sums");
  expect(smallestTable(["team", "pod"])).toBeUndefined();
});

/** The row that announces a run. */
function started(runId: string): object {
  return {
    kind: "started",
    cluster: "test",
    window_start: MARCH_1 / 1000,
    window_end: MARCH_1 / 1000 + 3600,
    run_id: runId,
    generation: 1,
    published_at: new Date(MARCH_1).toISOString(),
  };
}
