import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { settle } from "../../processors/ledger/term/settle.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { rulesOfConfig } from "../../services/ledger-rules.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";
import { createTestDatabase } from "../support/database.ts";
import { storeScenario } from "../support/play.ts";
import { scenarioWith } from "../support/played.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";
import { CARDS, keepSampleAdvice } from "../support/sample-advice.ts";

const START = Date.UTC(2026, 2, 31, 22);
const PRICES = 'prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "3.00" }]';
const text = (body: string): string => body.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");

/** Two hours of two GPUs at 3 an hour, one of them held by vision. */
const fleet = scenarioWith({
  period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T00:00:00Z" },
  nodes: [{ name: "gpu-a", model: "A100", gpus: 2, until: "2026-04-01T00:00:00Z" }],
  namespaces: { vision: { labels: { team: "vision" } } },
  pods: [{ name: "v-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 1 }],
});

let store: StoreClient;
let server: ReportsServer;

beforeAll(async () => {
  store = await createTestDatabase("decisions");
  await storeScenario(store, fleet);
  const { rules } = rulesOfConfig(parseConfig(PRICES, { source: "the test", folder: ".", env: {} }));
  const windows = [0, 1].map((hour) => ({ cluster: "default", windowStart: START + hour * HOUR_MILLIS }));
  await settle(store, windows, rules, { generation: 0, now: START + 3 * HOUR_MILLIS });
  await keepSampleAdvice(store);
  server = await createReportsServer(store, START + 3 * HOUR_MILLIS, PRICES);
}, 120_000);
afterAll(async () => {
  await server.close();
  await store.close();
});

/** The entries of the audit trail. */
const trail = async (what: string): Promise<readonly { who: string; why: string; subject: string }[]> =>
  store.query(`SELECT who, why, subject FROM audit_trail WHERE what = {what:String} ORDER BY at`, { what });

describe("a month in the browser", () => {
  const close = (form: Readonly<Record<string, string>>, as = FINANCE) =>
    server.post("/statement/close", { period: "2026-03", action: "close", ...form }, as);

  it("has a preview with the amount and everything that prevents the close", async () => {
    expect((await server.get("/statement?period=2026-03")).body).toContain('href="/statement/close?period=2026-03"');
    const body = text((await close({ action: "preview" })).body);
    expect(body).toContain("A close would post 12.00 USD");
    expect(body).toContain("can be closed from 2026-04-03 on (closing.day)");
    const early = await close({ typed: "2026-03", why: "March is over" });
    expect([early.statusCode, text(early.body)]).toEqual([
      409,
      expect.stringContaining("can be closed from 2026-04-03 on"),
    ]);
  });

  it("is closed only with its typed name and a reason, by finance, once", async () => {
    server.now = START + 4 * DAY_MILLIS;
    expect(text((await close({ action: "preview" })).body)).toContain("The month can be closed.");
    expect(text((await close({ typed: "2026-3", why: "over" })).body)).toContain("type 2026-03 to confirm");
    expect(text((await close({ typed: "2026-03" })).body)).toContain("write its reason");
    expect((await close({ typed: "2026-03", why: "over" }, VISION)).statusCode).toBe(403);
    const done = await close({ typed: "2026-03", why: "March is over" });
    expect([done.statusCode, done.headers.location]).toEqual([303, "/statement?period=2026-03"]);
    expect(text((await server.get("/statement?period=2026-03")).body)).toContain("closed by finance");
    expect(await trail("close")).toEqual([expect.objectContaining({ who: "finance", why: "March is over" })]);
    expect(text((await close({ typed: "2026-03", why: "again" })).body)).toContain(
      "2026-03 is closed: finance closed it",
    );
  });

  it("by list prices is not closed", async () => {
    const listed = await createReportsServer(store, START + 4 * DAY_MILLIS, "listPrices: true");
    const form = { period: "2026-03", action: "close", typed: "2026-03", why: "over" };
    expect(text((await listed.post("/statement/close", form)).body)).toContain("charges are by public list prices");
    await listed.close();
  });

  it("of another form is a wrong parameter", async () => {
    const answers = [
      await server.get("/statement/close?period=March"),
      await server.post("/statement/close", { period: "2026-03", action: "reopen" }),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([400, 400]);
  });
});

describe("a decision about a card", () => {
  const decide = (form: Readonly<Record<string, string>>, as = FINANCE) =>
    server.post("/advice/mark", { id: CARDS.vision, as: "dismissed", why: "a reserve", ...form }, as);

  it("is written with its author and reason by a viewer of the team, and shown at once", async () => {
    const done = await decide({ until: "2026-05-01" }, VISION);
    expect([done.statusCode, done.headers.location]).toEqual([303, `/advice/card?id=${CARDS.vision}`]);
    const body = text((await server.get(done.headers.location!, VISION)).body);
    expect(body).toContain("dismissed by vision's until 2026-05-01");
    expect(await trail("advice dismissed")).toEqual([
      expect.objectContaining({ who: "vision's", why: "a reserve", subject: CARDS.vision }),
    ]);
  });

  it("needs a reason, a future end, and a card that the viewer may see", async () => {
    const codes = await Promise.all([
      decide({ why: " " }),
      decide({ until: "2026-01-01" }),
      decide({ id: CARDS.nlp }, VISION),
    ]);
    expect(codes.map(({ statusCode }) => statusCode)).toEqual([400, 400, 404]);
  });
});
