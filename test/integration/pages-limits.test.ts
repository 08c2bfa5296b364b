import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chargeBeside, effectively } from "../../domain/charge/charge.ts";
import { amountOf } from "../../domain/exact/units.ts";
import { insertCharges } from "../../processors/ledger/charging/charge-inserts.ts";
import { newRunId, publishRun } from "../../processors/ledger/runs/runs.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { NOON, PRICES_CONFIG } from "../support/pages-fleet.ts";
import { createTestDatabase } from "../support/database.ts";
import { openStoreLine } from "../support/store-line.ts";
import { createReportsServer, FINANCE, type ReportsServer } from "../support/reports-server.ts";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";

const TEAMS = 10_000;
/** Each team pays a nano-unit more than a third of the currency. No rounding may lose it. */
const EACH = "0.333333334";
const ALL = "3333.33334";
/** A part of every team's name. */
const HOSTILE = `=cmd|'/c'!A1 <script>alert(1)</script> \u202Eevil "'\\,../`;

/** Publishes an hour in which each of many teams pays the same. */
async function bookMany(store: StoreClient): Promise<void> {
  const windowStart = NOON - HOUR;
  const hour = { fromMillis: windowStart, untilMillis: NOON };
  const costs = effectively(amountOf<"currency">(EACH));
  const line = chargeBeside({ cluster: "test", state: "non-gpu", costs, ...hour }, { price: "fixed[0]" });
  const one = newRunId();
  await insertCharges(store, { run: one, policy: "default", billingPeriod: Date.UTC(2026, 2, 1) }, [line]);
  const runId = newRunId();
  await store.command(
    `INSERT INTO charges SELECT c.* REPLACE (toUUID({run:String}) AS run_id,
       concat('team-', toString(number), {hostile:String}) AS team, concat({hostile:String}, toString(number)) AS workload)
     FROM (SELECT * FROM charges WHERE run_id = toUUID({one:String})) AS c, numbers(${TEAMS}) AS n`,
    { run: runId, one, hostile: HOSTILE },
  );
  const run = { cluster: "test", windowStart, runId, generation: 1, watermark: new Map(), publishedAt: NOON };
  await publishRun(store, "charge", run, { scrapes: 0, rows: TEAMS, hash: "0" });
}

const textOf = (html: string): string => html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");

describe("ten thousand teams with names that contain markup, formulas and changes of direction", () => {
  let store: StoreClient;
  let server: ReportsServer;

  beforeAll(async () => {
    store = await createTestDatabase("limits");
    await bookMany(store);
    server = await createReportsServer(store, NOON, PRICES_CONFIG, { requestsPerMinute: 100 });
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  const team = encodeURIComponent(`team-7${HOSTILE}`);
  it.each([
    { path: "/?span=2026-03", of: "/?span=2026-03&teams=100", last: "9901 to 10000 of 10000" },
    {
      path: "/statement?period=2026-03",
      of: "/statement?period=2026-03&statements=99999",
      last: "9901 to 10000 of 10000",
    },
    { path: "/policies?span=2026-03", of: "/policies?span=2026-03&teams=3", last: "201 to 300 of 10000" },
  ])("fit on $path, with a sum of all of them, part by part", async ({ path, of, last }) => {
    for (const url of [path, of]) {
      const { statusCode, rawPayload, body } = await server.get(url);
      expect([statusCode, rawPayload.length <= 150_000]).toEqual([200, true]);
      expect(body).toContain(`value="${ALL}"`);
      expect(body).not.toMatch(/<script>alert|<\/bdi>[^<]*\u202E/);
    }
    expect(textOf((await server.get(path)).body)).toContain("1 to 100 of 10000");
    expect(textOf((await server.get(of)).body)).toContain(last);
  });

  it.each([
    { path: `/team?team=${team}&span=2026-03` },
    {
      path: `/explain?span=2026-03&where=team=${team.replaceAll("%2C", "%5C%2C").replaceAll("%5C%5C%2C", "%5C%5C%5C%2C")}`,
    },
    { path: `/statement?period=2026-03&team=${team}&costCenter=` },
    { path: "/explain?span=2026-03" },
    { path: "/prices?span=2026-03" },
    { path: "/fleet" },
    { path: "/queue" },
    { path: "/quality" },
    { path: "/periods" },
  ])("have no effect on $path", async ({ path }) => {
    const { statusCode, rawPayload, body } = await server.get(path);
    expect([statusCode, rawPayload.length <= 150_000]).toEqual([200, true]);
    expect(body).not.toContain("<script>alert");
  });

  it("add up to the same figure in pages, CSV and JSON, and open no formula", async () => {
    const csv = (await server.get("/api/v1/charges?span=2026-03&by=team&format=csv")).body;
    expect(csv.split("\r\n").filter((line) => line.includes("team-"))).toHaveLength(TEAMS);
    const workloads = (await server.get("/api/v1/charges?span=2026-03&by=workload&format=csv")).body;
    expect(workloads).not.toMatch(/(^|,|")[=+@-]cmd/m);
    expect(workloads).toContain("'=cmd");
    const { total } = (await server.get("/api/v1/charges?span=2026-03&by=team&limit=1")).json<{
      total: { cost: string };
    }>();
    expect(total.cost).toBe(ALL);
  });

  it("an address with too many requests has to wait, with the time in the answer", async () => {
    const asked = await Promise.all(Array.from({ length: 120 }, () => server.get("/api/v1/periods")));
    const refused = asked.filter(({ statusCode }) => statusCode === 429);
    expect(refused.length).toBeGreaterThan(10);
    expect(refused[0]!.json()).toMatchObject({ status: 429, title: "Too many requests" });
    expect(Number(refused[0]!.headers["retry-after"])).toBeGreaterThan(0);
  });
});

describe("while the store is away", () => {
  it("a page that was shown before is shown as it was, with a note; others explain what to do", async () => {
    const line = await openStoreLine(sharedStore());
    const store = await createTestDatabase("away", { ...sharedStore(), url: line.url });
    await bookMany(store);
    const server = await createReportsServer(store, NOON, PRICES_CONFIG);
    const html = { accept: "text/html" };
    expect((await server.get("/", FINANCE, html)).body).not.toContain("The store does not answer");
    await line.close();
    server.now += HOUR;
    const seen = await server.get("/", FINANCE, html);
    expect(seen.statusCode).toBe(200);
    expect(textOf(seen.body)).toContain("The store does not answer. This is the page of 2026-03-31 12:00:00 UTC");
    expect(seen.headers["cache-control"]).toBe("no-store");
    const unseen = await server.get("/statement?period=2026-03", FINANCE, html);
    expect([unseen.statusCode, unseen.headers["retry-after"]]).toEqual([503, "5"]);
    expect(textOf(unseen.body)).toContain("no figure is lost");
    const program = await server.get("/api/v1/charges");
    expect(program.json()).toMatchObject({ status: 503 });
    await server.close();
    await store.close();
  });
});
