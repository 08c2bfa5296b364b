import { afterAll, beforeAll, expect, it } from "vitest";
import { chargeBeside, effectively } from "../../domain/charge/charge.ts";
import { lastUnits } from "../../domain/exact/units.ts";
import { insertCharges } from "../../processors/charges/charge-rows.ts";
import { newRunId, publishRun } from "../../processors/runs.ts";
import type { ReportQuestion } from "../../reports/question/question.ts";
import { readReport } from "../../reports/report/read.ts";
import { createDayGroups, type DayGroups } from "../../reports/server/day-groups.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/pipeline.ts";

const HOUR = 3_600_000;
const MARCH_1 = Date.UTC(2026, 2, 1);
const SPAN = { name: "2026-03", from: MARCH_1, until: Date.UTC(2026, 3, 1) };

let embedded: TestStore;
let store: StoreClient;
let days: DayGroups;
/** The days that were asked for, question by question. */
let asked: (readonly number[])[] = [];
let edition = 0;

/** Publishes a cost in an hour, instead of what was published of it before. */
async function book(windowStart: number, units: number): Promise<void> {
  const costs = effectively(lastUnits<"currency">(BigInt(units) * 1_000_000_000n));
  const hour = { fromMillis: windowStart, untilMillis: windowStart + HOUR };
  const line = chargeBeside({ cluster: "test", state: "non-gpu", costs, ...hour }, { price: "fixed[0]" });
  const run = { cluster: "test", windowStart, runId: newRunId(), generation: 1 };
  await insertCharges(store, { run: run.runId, policy: "default", billingPeriod: MARCH_1 }, [line]);
  edition += 1;
  const published = { ...run, watermark: new Map<number, number>(), publishedAt: MARCH_1 + edition };
  await publishRun(store, "charge", published, { scrapes: 0, rows: 1, hash: "0" });
}

/** What a question comes to by what is remembered of days, and the days that were read for it. */
async function ask(more: Partial<ReportQuestion> = {}): Promise<{ cost: string; read: readonly number[] }> {
  const question = { policy: "default", kind: "showback", span: SPAN, by: ["team"], where: [], ...more } as const;
  asked = [];
  const { total } = await readReport(store, question, "USD", { readGroups: days.at(String(edition)) });
  const direct = await readReport(store, question, "USD");
  expect(total.cost).toBe(direct.total.cost);
  return { cost: total.cost, read: asked.flat().map((day) => (day - MARCH_1) / (24 * HOUR) + 1) };
}

beforeAll(async () => {
  embedded = await startTestStore();
  store = await createTestDatabase(embedded, "days");
  const watched = {
    query: <Row>(sql: string, parameters: Readonly<Record<string, unknown>> = {}) => {
      if (parameters["days"] !== undefined) asked.push(parameters["days"] as readonly number[]);
      return store.query<Row>(sql, parameters);
    },
  };
  days = createDayGroups(watched, 1_000_000);
  for (const [day, units] of [3, 5, 7].entries()) await book(MARCH_1 + (day * 24 + 12) * HOUR, units);
});
afterAll(async () => {
  await store.close();
  await embedded.stop();
});

it("reads every day once, and again only those that something was published of", async () => {
  const first = await ask();
  expect(first).toMatchObject({ cost: "15" });
  expect(first.read).toHaveLength(31);
  expect(await ask()).toEqual({ cost: "15", read: [] });
  await book(MARCH_1 + 36 * HOUR, 50);
  expect(await ask()).toEqual({ cost: "60", read: [2] });
  await book(MARCH_1 + 10 * 24 * HOUR, 1);
  expect(await ask()).toEqual({ cost: "61", read: [11] });
});

it("keeps apart what was asked otherwise, and days of which a part was asked for", async () => {
  const half = { name: "some", from: MARCH_1 + 13 * HOUR, until: MARCH_1 + 4 * 24 * HOUR };
  expect(await ask({ span: half })).toEqual({ cost: "57", read: [1] });
  expect((await ask({ by: ["state"] })).read).toHaveLength(31);
  expect(await ask({ where: [{ dimension: "team", values: ["nobody"] }] })).toMatchObject({ cost: "0" });
  expect((await ask({ policy: "other" })).cost).toBe("0");
});
