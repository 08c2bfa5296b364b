import pino from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { chargeBeside, effectively } from "../../domain/charge/charge.ts";
import { lastUnits } from "../../domain/exact/units.ts";
import { insertCharges } from "../../processors/charges/charge-rows.ts";
import { newRunId, publishRun } from "../../processors/runs.ts";
import { dropSuperseded } from "../../processors/superseded.ts";
import { explain } from "../../reports/explain/read.ts";
import type { ReportQuestion } from "../../reports/question/question.ts";
import { readReport } from "../../reports/report/read.ts";
import { fillSums, readUnsummed } from "../../reports/sums/fill.ts";
import { createSums, type Sums } from "../../reports/sums/sums.ts";
import { LINES, smallestTable } from "../../reports/sums/tables.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/pipeline.ts";
import { playScenario, scenarioFiles } from "../support/play-ledger.ts";

const HOUR = 3_600_000;
const MARCH_1 = Date.UTC(2026, 2, 1);
const MONTH = { name: "2026-03", from: MARCH_1, until: Date.UTC(2026, 3, 1) };
const QUESTION = { policy: "default", kind: "showback", span: MONTH, by: ["team"], where: [] } as const;

let embedded: TestStore;
let store: StoreClient;
let sums: Sums;
let databases = 0;
let edition = 0;

beforeAll(async () => {
  embedded = await startTestStore();
});
afterAll(() => embedded.stop());
beforeEach(async () => {
  store = await createTestDatabase(embedded, `sums${(databases += 1)}`);
  sums = createSums(store, pino({ level: "silent" }));
  return async () => {
    await sums.stop();
    await store.close();
  };
});

/** Publishes a cost in an hour, instead of what was published of it before. */
async function book(windowStart: number, units: number, more: { readonly publishedAt?: number } = {}): Promise<string> {
  const costs = effectively(lastUnits<"currency">(BigInt(units) * 1_000_000_000n));
  const hour = { fromMillis: windowStart, untilMillis: windowStart + HOUR };
  const line = chargeBeside({ cluster: "test", state: "non-gpu", costs, ...hour }, { price: "fixed[0]" });
  const run = { cluster: "test", windowStart, runId: newRunId(), generation: 1 };
  await insertCharges(store, { run: run.runId, policy: "default", billingPeriod: MARCH_1 }, [line]);
  edition += 1;
  const publishedAt = more.publishedAt ?? MONTH.until + edition;
  await publishRun(store, "charge", { ...run, watermark: new Map(), publishedAt }, { scrapes: 0, rows: 1, hash: "0" });
  return run.runId;
}

/** What a question comes to by sums, and what it was read from. */
async function ask(more: Partial<ReportQuestion> = {}): Promise<{ readonly cost: string; readonly from: string[] }> {
  const from: string[] = [];
  const choose = sums.at(String(edition));
  const { total } = await readReport(store, { ...QUESTION, ...more }, "USD", {
    isCompared: false,
    chooseTable: async (...asked) => {
      const table = await choose(...asked);
      from.push(table.name);
      return table;
    },
  });
  return { cost: total.cost, from };
}

describe("sums of what is published", () => {
  it("are made of a new run before a question is answered, and say what its lines say", async () => {
    await book(MARCH_1, 3);
    expect(await ask()).toEqual({ cost: "3", from: ["charge_sums_published"] });
    await book(MARCH_1 + HOUR, 5);
    await book(MARCH_1, 40);
    expect(await ask()).toEqual({ cost: "45", from: ["charge_sums_published"] });
    expect(await readUnsummed(store)).toEqual([]);
  });

  it("answer with what was published before where something was published since they were made", async () => {
    await book(MARCH_1, 3);
    await ask();
    await book(MARCH_1, 40);
    edition -= 1;
    // An edition that was looked at is not looked at again: the hour stands as it was, and is not missing.
    expect(await ask()).toMatchObject({ cost: "3" });
  });

  it("are chosen where they tell what is asked, and lines where they do not", async () => {
    await book(MARCH_1, 3);
    const where = [{ dimension: "node", values: ["gpu-a"] }];
    expect((await ask({ by: ["team", "chargeDay", "unpriced"] })).from).toEqual(["charge_sums_published"]);
    expect((await ask({ by: ["workload"] })).from).toEqual(["charge_workload_sums_published"]);
    expect((await ask({ where })).from).toEqual(["charges_published"]);
    expect((await ask({ by: ["label.run"] })).from).toEqual(["charges_published"]);
  });

  it("made twice at once, or broken off, count once", async () => {
    await book(MARCH_1, 3);
    await book(MARCH_1 + HOUR, 5);
    const unsummed = await readUnsummed(store);
    // What a server left that ended before it wrote down which runs it had summed.
    const broken: StoreClient = {
      ...store,
      command: (sql, parameters) =>
        sql.includes("INTO summed_runs") ? Promise.reject(new Error("ended")) : store.command(sql, parameters),
    };
    await expect(fillSums(broken, unsummed)).rejects.toThrow("ended");
    await Promise.all([fillSums(store, unsummed), fillSums(store, unsummed)]);
    expect(await ask()).toEqual({ cost: "8", from: ["charge_sums_published"] });
    expect((await ask({ by: ["workload"] })).cost).toBe("8");
  });

  it("of many runs are made in the background, and lines are added up meanwhile", async () => {
    for (let hour = 0; hour < 30; hour += 1) await book(MARCH_1 + hour * HOUR, 1);
    expect(await ask()).toEqual({ cost: "30", from: ["charges_published"] });
    await vi.waitFor(async () => expect(await ask()).toEqual({ cost: "30", from: ["charge_sums_published"] }), 10_000);
  });

  it("go when their run was superseded an hour ago", async () => {
    const old = await book(MARCH_1, 3, { publishedAt: MARCH_1 + HOUR });
    await store.insertJson("runs", [
      started(old),
      started(await book(MARCH_1, 4, { publishedAt: MARCH_1 + 2 * HOUR })),
    ]);
    await fillSums(store, [{ run: old, kind: "charge", windowStart: MARCH_1, billingPeriod: MARCH_1 }]);
    expect((await ask()).cost).toBe("4");
    const left = async (): Promise<unknown> =>
      store.query(`SELECT (SELECT count() FROM charge_sums) AS sums, (SELECT count() FROM charge_workload_sums) AS more,
        (SELECT count() FROM summed_runs) AS runs`);
    expect(await left()).toEqual([{ sums: "2", more: "2", runs: "2" }]);
    await dropSuperseded(store, MARCH_1 + 4 * HOUR);
    expect(await left()).toEqual([{ sums: "1", more: "1", runs: "1" }]);
    expect((await ask()).cost).toBe("4");
  });

  it("explain the same as lines do", async () => {
    const { scenario } = scenarioFiles().find(({ file }) => file === "energy-of-a-shared-gpu.yaml")!;
    await playScenario(store, scenario);
    const { start, end } = scenario.period;
    const question = { ...QUESTION, span: { name: "", from: start, until: end } };
    const told = await explain(store, question, { chooseTable: sums.at("played") });
    expect(told.lines.length).toBeGreaterThan(3);
    expect(told).toEqual(await explain(store, question));
  });
});

it("the smallest table is chosen by all that is asked", () => {
  expect(smallestTable(["team", "state"]).name).toBe("charge_sums_published");
  expect(smallestTable(["team", "pod"])).toBe(LINES);
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
