import { HOUR_MILLIS } from "../../domain/time.ts";
import { renderToString } from "preact-render-to-string";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { problemContent } from "../../reports/parts/problem.tsx";
import { Problem } from "../../reports/question/problem.ts";
import { figuresOf } from "../support/figures.ts";
import { NOON, OF_ALL, PAGES, createPagesDatabase, PRICES_CONFIG } from "../support/pages-fleet.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";
import { keepSampleAdvice } from "../support/sample-advice.ts";

/** Pages of charges. Each of their figures has an explanation. */
const EXPLAINED = PAGES.filter((path) => /^\/(\?|$|team|workload|node|gpu)/.test(path));

describe("pages", () => {
  let store: StoreClient;
  let server: ReportsServer;

  beforeAll(async () => {
    store = await createPagesDatabase("pages");
    await keepSampleAdvice(store);
    server = await createReportsServer(store, NOON, PRICES_CONFIG);
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  it("shows the use of the fleet over a day in the usual terms", async () => {
    const { body } = await server.get("/fleet");
    const figures = [...body.matchAll(/<dt>([^<]*)<\/dt><dd class="amount">(.*?)<\/dd>/g)].map(([, title, amount]) => [
      title,
      amount!.replaceAll(/<[^>]*>/g, ""),
    ]);
    // Four GPUs for four hours; three are held, with an activity of a quarter, a half and three quarters.
    expect(Object.fromEntries(figures)).toMatchObject({
      Total: "16.00",
      Held: "12.00",
      Effective: "12.00",
      Wasted: "4.00",
      Utilization: "37.5 %",
      "Scheduling efficiency": "75.0 %",
    });
    expect((await server.get("/fleet", VISION)).body).not.toContain("Scheduling efficiency");
  });

  it("shows the unallocated time in the overview, and does not break the date of a price", async () => {
    const { body } = await server.get("/?span=2026-03");
    expect(body).toContain("not held</a></th>");
    expect(body).toMatch(/<bdi>platform<\/bdi>.*?<\/tr>/);
    const [row] = /<bdi>platform<\/bdi>.*?<\/tr>/.exec(body.split("By team")[1]!)!;
    expect(row.match(/<data /g)!.length).toBeGreaterThan(2);
    expect((await server.get("/prices?span=2026-03")).body).toMatch(/<td class="whole">20\d\d-\d\d-\d\d<\/td>/);
  });

  it("have the viewer, the role and the teams at their end", async () => {
    expect((await server.get("/queue", VISION)).body).toMatch(/viewer: [^<]+, role: viewer, teams: vision/);
    expect((await server.get("/queue", FINANCE)).body).toMatch(/viewer: [^<]+, role: finance, all teams/);
  });

  it("compares a time with any other time, as the API does", async () => {
    const [span, earlier] = ["2026-03-31T10:00Z/2026-03-31T11:00Z", "2026-03-31T08:00Z/2026-03-31T10:00Z"];
    const query = new URLSearchParams({ span, compare: earlier }).toString();
    // Four GPUs at 3.00: an hour after two hours.
    const answer = (await server.get(`/api/v1/charges?${query}`)).json<{ total: object; comparedWith: object }>();
    expect(answer).toMatchObject({
      total: { cost: "12", before: "24", change: "-12" },
      comparedWith: { name: earlier },
    });
    const text = (await server.get(`/?${query}`)).body.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
    expect(text).toContain("Compared with another time -12.00 24.00 in 2026-03-31 08:00 to 2026-03-31 10:00 UTC");
    expect((await server.get("/?compare=never")).statusCode).toBe(400);
  });

  it("gives a table as a file, and records it as an export", async () => {
    const csv = await server.get("/?span=2026-03&csv=teams");
    expect(csv.headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="teams.csv"',
    });
    expect(csv.body.split("\r\n")).toHaveLength(1 + 4 + 1);
    expect(csv.body).toContain("vision,4,12,3,9,,3");
    expect(
      await store.query("SELECT details FROM audit_trail WHERE subject = '/?span=2026-03&csv=teams'"),
    ).toHaveLength(1);
    expect((await server.get("/?span=2026-03&csv=pods")).statusCode).toBe(400);
  });

  it.each(EXPLAINED)("links every figure of %s to its explanation", async (path) => {
    const { body } = await server.get(path);
    const { links, alone } = figuresOf(body);
    expect(alone).toEqual([]);
    expect(links.size).toBeGreaterThan(5);
    for (const each of links) {
      expect(each).toMatch(/^\/(explain|change|advice)/);
      server.now += 1;
      expect({ each, status: (await server.get(each)).statusCode }).toEqual({ each, status: 200 });
    }
  });

  it("shows for a GPU's line the label that named its team, with its values over time", async () => {
    const { body } = await server.get("/explain?line=default/gpu-a/0@2026-03-31T09:30:00Z");
    expect(body).toContain("<title>Explained: GPU 0 of default/gpu-a at 2026-03-31 09:30:00 UTC · gpu-ledger</title>");
    const text = body
      .split("Labels that name the team")[1]!
      .replaceAll(/<[^>]+>/g, " ")
      .replaceAll(/\s+/g, " ");
    expect(text).toMatch(/namespace vision team vision 2026-03-31 \d\d:\d\d:\d\d UTC/);
  });

  it("links the lines of an explanation to their pods and teams", async () => {
    const { body } = await server.get("/explain?span=2026-03");
    const lines = body.slice(body.indexOf("<h2>Lines</h2>"));
    for (const path of [
      "/workload?cluster=default&amp;namespace=vision&amp;pod=vision-0&amp;span=2026-03-31",
      "/team?team=vision&amp;span=2026-03-31",
    ]) {
      expect(lines).toContain(`<a href="${path}"><bdi>`);
      expect((await server.get(path.replaceAll("&amp;", "&"))).body).toContain("Cost in USD");
    }
    const [, file] = /href="([^"]*)">All lines as CSV/.exec(body)!;
    const csv = await server.get(file!.replaceAll("&amp;", "&"));
    expect(csv.headers["content-disposition"]).toBe('attachment; filename="charge-lines-2026-03.csv"');
    const all = csv.body.trim().split("\r\n").length;
    expect(lines.split("<tr>").length - 1).toBe(all);
    expect(body).not.toContain("rows of each table");
    const [costs, first] = [/lines\.sort=-cost#lines/, /lines\.sort=from%2C\+UTC#lines/];
    expect([costs.test(lines), first.test(lines)]).toEqual([true, true]);
    const sorted = (await server.get("/explain?span=2026-03&lines.sort=from%2C+UTC")).body;
    expect(/<td>(2026-03-31 \d\d:\d\d:\d\d)<\/td>/.exec(sorted)?.[1]).toBe("2026-03-31 08:00:00");
  });

  it("shows in the overview how many hours of its time are not charged yet, if there are more than usual", async () => {
    const start = Date.UTC(2026, 2, 1);
    const hours = (count: number) => Array.from({ length: count }, (_, hour) => start + hour * HOUR_MILLIS);
    let waiting = hours(2);
    const other = await createReportsServer(store, NOON, PRICES_CONFIG, { hoursWaiting: () => waiting });
    try {
      expect((await other.get("/?span=2026-03")).body).not.toContain("wait to be charged");
      waiting = hours(70);
      other.now += 3_000;
      const { body } = await other.get("/?span=2026-03");
      expect(body).toContain(
        "<strong>70 hours of this time wait to be charged</strong>, from 2026-03-01 00:00:00 UTC to",
      );
      expect(body).not.toContain("; complete.");
      expect((await other.get("/?span=2026-03-02")).body).toContain("<strong>24 hours of this time wait");
      expect((await other.get("/?span=2026-03-10")).body).not.toContain("wait to be charged");
      expect((await other.get("/?span=2020-01")).body).not.toContain("wait to be charged");
    } finally {
      await other.close();
    }
  });

  it("shows the exchange rate of another currency", async () => {
    const rates = '\nrates: [{ from: 2026-01-01, currency: EUR, rate: "1.08" }]';
    const other = await createReportsServer(store, NOON, `${PRICES_CONFIG}${rates}`);
    try {
      const { body } = await other.get("/prices?span=2026-03");
      expect(body).toContain("Exchange rates: one unit of a currency in USD");
      expect(body).toContain('<th scope="row">EUR</th><td class="whole">2026-01-01</td><td class="number">1.08</td>');
    } finally {
      await other.close();
    }
  });

  it("shows once that a token is required", () => {
    const problem = new Problem("not-authenticated", "a token is needed");
    expect(renderToString(problemContent(problem, "/"))).not.toContain("a token is needed");
  });

  it("sends at most 150 kB a page", async () => {
    for (const path of [...PAGES, ...OF_ALL]) {
      const { rawPayload } = await server.get(path);
      expect({ path, isSmall: rawPayload.length <= 150_000 }).toEqual({ path, isSmall: true });
    }
  });

  it.each([
    { path: "/nothing", status: 404, text: "The overview" },
    { path: "/?span=2026-13", status: 400, text: "2026-13" },
    { path: "/?policy=unkept", status: 400, text: "with kept charges" },
    { path: "/statement?period=soon", status: 400, text: "a month" },
  ])("explains the problem of $path, and what to do next", async ({ path, status, text }) => {
    const answer = await server.get(path, FINANCE, { accept: "text/html" });
    expect(answer.statusCode).toBe(status);
    expect(answer.body).toContain(text);
    expect(answer.body).toContain('href="/"');
  });

  it.each([{ path: "/prices" }, { path: "/quality" }])("hides $path from a team's viewer", async ({ path }) => {
    const answer = await server.get(path, VISION, { accept: "text/html" });
    expect(answer.statusCode).toBe(403);
    expect(answer.body).not.toContain("nlp");
  });

  it.each(PAGES.map((path) => ({ path })))("shows a team's viewer nothing of others on $path", async ({ path }) => {
    const { body } = await server.get(path, VISION);
    expect(body).not.toMatch(/nlp|onerror|platform</);
  });

  it("aligns the decimal points of prices of one unit", async () => {
    const config = `prices:
  - { match: { model: A }, from: 2026-01-01, per: gpu-hour, list: "12", effective: "3.125" }
  - { match: {}, from: 2026-01-01, per: gpu-hour, effective: "3" }
  - { match: { instanceType: p5 }, from: 2026-01-01, per: node-hour, effective: "38000" }`;
    const own = await createReportsServer(store, NOON, config);
    const { body } = await own.get("/prices?span=2026-03");
    await own.close();
    const rows = body
      .slice(body.indexOf("The price book"))
      .match(/<tr>.*?<\/tr>/gs)!
      .slice(1, 4);
    expect(
      rows.map((row) => row.match(/<td class="number">.*?<\/td>/g)!.map((cell) => cell.replaceAll(/<[^>]*>/g, ""))),
    ).toEqual([
      ["12.00", "12.00", "3.125"],
      ["3.00", "3.00", "3.000"],
      ["38,000.00", "38,000.00", "38,000.00"],
    ]);
  });

  it("shows the other slots of a GPU over the time", async () => {
    const of = "cluster = 'default' AND node = 'gpu-a' AND slot = 0";
    const [{ key } = { key: "" }] = await store.query<{ key: string }>(
      `SELECT any(gpu_key) AS key FROM usage_hours_published WHERE ${of}`,
    );
    const path = `/gpu?cluster=default&uuid=${encodeURIComponent(key)}&span=2026-03`;
    expect((await server.get(path)).body).not.toContain("also in other slots");
    // The state as if the GPU had been in another machine in its first hour.
    await store.command(
      `INSERT INTO usage_hours SELECT * REPLACE ('gpu-b' AS node, 5 AS slot)
       FROM (SELECT * FROM usage_hours WHERE ${of} AND from_at = (SELECT min(from_at) FROM usage_hours WHERE ${of}))`,
    );
    server.now += 60_000;
    const { body } = await server.get(`${path}&policy=default`);
    expect(body).toContain("also in other slots");
    expect(body).toContain('href="/gpu?cluster=default&amp;node=gpu-b&amp;gpu=5&amp;span=2026-03"');
  });
});
