import type { LightMyRequestResponse } from "fastify";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { z } from "zod";
import { chargeBeside, effectively } from "../../domain/charge/charge.ts";
import { lastUnits } from "../../domain/exact/units.ts";
import { insertCharges } from "../../processors/ledger/charging/charge-inserts.ts";
import { newRunId, publishRun } from "../../processors/ledger/runs/runs.ts";
import type { Viewer } from "../../reports/access/viewer.ts";
import { fleetSchema, queueSchema } from "../../reports/api/live-schemas.ts";
import { cursorText } from "../../reports/api/page.ts";
import {
  allocationsSchema,
  chargesSchema,
  explanationSchema,
  ownersSchema,
  periodsSchema,
  pricesSchema,
  problemSchema,
  statementsSchema,
} from "../../reports/api/schemas.ts";
import type { FocusManifest } from "../../reports/focus/manifest.ts";
import { readReport } from "../../reports/report/read-report.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { openBooks, type Books } from "../support/books.ts";
import { requirePart } from "../support/parts.ts";
import { createTestDatabase } from "../support/database.ts";
import { scenarioWith } from "../support/played.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";

const hasChromium = requirePart("chromium");
const APRIL_5 = Date.UTC(2026, 3, 5);
const MARCH = "span=2026-03";
const PRICES = 'prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "3.00" }]';

/** Three GPUs at 3 an hour for the last two hours of March: vision and nlp hold one each, one is free. */
const FLEET = scenarioWith({
  period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T00:00:00Z" },
  nodes: [
    { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 3, instanceType: "p4d", until: "2026-04-01T00:00:00Z" },
  ],
  namespaces: { vision: { labels: { team: "vision" } }, nlp: { labels: { team: "nlp" } } },
  pods: [
    { name: "v-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 1 },
    { name: "n-0", namespace: "nlp", node: "gpu-a", holds: { gpus: 1 }, devices: [1], activity: 0.5 },
  ],
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
});

describe("the API", () => {
  let store: StoreClient;
  let books: Books;
  let server: ReportsServer;

  const get = (path: string, as?: Viewer, headers?: Readonly<Record<string, string>>) =>
    server.get(`/api/v1/${path}`, as, headers);
  function read<Schema extends z.ZodType>(schema: Schema, answer: LightMyRequestResponse): z.output<Schema> {
    expect(answer).toMatchObject({ statusCode: 200 });
    return schema.parse(answer.json());
  }
  function problemOf(answer: LightMyRequestResponse) {
    const problem = problemSchema.parse(answer.json());
    expect(answer).toMatchObject({ statusCode: problem.status });
    expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
    return problem;
  }

  /** Publishes a cost in the first hour of April in place of the earlier one, as the ledger does. */
  async function bookFixedCost(units: bigint): Promise<void> {
    const windowStart = Date.UTC(2026, 3, 1);
    const [cost, hours] = [
      lastUnits<"currency">(units * 1_000_000_000n),
      { fromMillis: windowStart, untilMillis: windowStart + 3_600_000 },
    ];
    const line = chargeBeside(
      { cluster: "other", state: "non-gpu", costs: effectively(cost), ...hours },
      { price: "fixed[0]" },
    );
    const run = { cluster: "other", windowStart, runId: newRunId(), generation: 1 };
    await insertCharges(store, { run: run.runId, policy: "default", billingPeriod: windowStart }, [line]);
    const published = { ...run, watermark: new Map<number, number>(), publishedAt: server.now };
    await publishRun(store, "charge", published, { scrapes: 0, rows: 1, hash: "0" });
    server.now += 1_000;
  }

  beforeAll(async () => {
    store = await createTestDatabase("api");
    books = openBooks(store, FLEET);
    await books.arrive(FLEET);
    await books.settle(APRIL_5);
    server = await createReportsServer(store, APRIL_5, PRICES);
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  it("returns charges with the figures of the report, each row with its explanation", async () => {
    const { rows, total, next } = read(chargesSchema, await get(`charges?${MARCH}&by=team,state`));
    const span = { name: "2026-03", from: Date.UTC(2026, 2), until: Date.UTC(2026, 3) };
    const question = { policy: "default", kind: "showback", span, by: ["team", "state"], where: [] } as const;
    const report = await readReport(store, question, { currency: "USD" });
    expect(rows.map((row) => ({ ...row, explain: undefined }))).toEqual(report.rows);
    expect({ cost: total.cost, next }).toEqual({ cost: "18", next: null });
    for (const { explain, cost, gpuHours } of rows)
      expect(read(explanationSchema, await get(explain))).toMatchObject({ cost, gpuHours });
  });

  it("has schemas for all of its answers", async () => {
    read(statementsSchema, await get("statements?period=2026-03"));
    expect(read(periodsSchema, await get("periods")).periods).toMatchObject([
      { period: "2026-04", status: "running" },
      { period: "2026-03", status: "open", chargedUntil: "2026-04-01T00:00:00.000Z" },
    ]);
    expect(read(pricesSchema, await get("prices")).entries).toMatchObject([
      { name: "everything from 2026-01-01", amount: "3" },
    ]);
    read(ownersSchema, await get(`owners?${MARCH}`));
    read(fleetSchema, await get("fleet"));
    read(queueSchema, await get("queue"));
    const { allocations } = read(allocationsSchema, await get(`allocations?${MARCH}`));
    expect(allocations).toMatchObject([
      { gpu: 0, pod: "v-0", team: "vision", share: "1", gpuHours: "2", activeGpuHours: "2", cost: "6" },
      { gpu: 1, pod: "n-0", team: "nlp", share: "1", gpuHours: "2", activeGpuHours: "1", cost: "6" },
    ]);
    const openapi = (await get("openapi.json")).json<{ openapi: string; paths: object; components: object }>();
    expect(openapi.openapi).toBe("3.1.0");
    expect(Object.keys(openapi.paths)).toEqual(
      expect.arrayContaining(["/api/v1/charges", "/api/v1/charges/lines", "/api/v1/explain", "/api/v1/queue"]),
    );
    expect(openapi.components).toHaveProperty("schemas.Charges");
  });

  it("pages through allocations, also while the ledger is published", async () => {
    const pods: string[] = [];
    let path = `allocations?${MARCH}&limit=1`;
    for (let turn = 0; turn < 5; turn++) {
      const { allocations, next } = read(allocationsSchema, await get(path));
      pods.push(...allocations.map(({ pod }) => pod));
      if (next === null) break;
      await bookFixedCost(2n);
      path = `allocations?${MARCH}&limit=1&cursor=${next}`;
    }
    expect(pods).toEqual(["v-0", "n-0"]);
    expect(problemOf(await get(`allocations?${MARCH}&cursor=${cursorText({ ledgerVersion: "", at: 1 })}`)).status).toBe(
      400,
    );
  });

  it("pages through rows that sum to the total, also while the ledger is published again", async () => {
    const path = `charges?${MARCH}&by=team,state,gpu&limit=2`;
    const pages = [read(chargesSchema, await get(path))];
    const { total } = pages[0]!;
    await bookFixedCost(1n);
    for (let { next } = pages[0]!; next !== null; { next } = pages.at(-1)!)
      pages.push(read(chargesSchema, await get(`${path}&cursor=${next}`)));
    expect(pages.map(({ rows }) => rows.length)).toEqual([2, 2]);
    const costs = pages.flatMap(({ rows }) => rows.map(({ cost }) => Number(cost)));
    expect(costs.reduce((sum, cost) => sum + cost, 0)).toBe(Number(total.cost));
    // Who follows the pages takes all rows. The first page alone is a question.
    const taken = (): Promise<readonly object[]> =>
      store.query("SELECT what, subject FROM audit WHERE who = 'finance' AND subject LIKE 'page of /api/v1/charges?%'");
    const { search } = new URL(`http://localhost/${path}`);
    await expect
      .poll(taken)
      .toEqual([{ what: "export", subject: `page of /api/v1/charges?${new URLSearchParams(search).toString()}` }]);
    const gone = cursorText({ ledgerVersion: "of-last-year", at: 2 });
    expect(problemOf(await get(`${path}&cursor=${gone}`))).toMatchObject({ status: 410 });
  });

  it("exports sums and lines as files", async () => {
    const csv = await get(`charges?${MARCH}&format=csv`);
    expect(csv.headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="charges-by-team-2026-03.csv"',
    });
    expect(csv.body.split("\r\n")[0]).toContain("gpuHours,heldGpuHours");
    const lines = await get(`charges/lines?${MARCH}&format=ndjson`);
    const sum = lines.body
      .trim()
      .split("\n")
      .map((line) => Number((JSON.parse(line) as { cost: string }).cost));
    expect(sum.reduce((a, b) => a + b, 0)).toBe(18);
    expect(lines.headers["content-disposition"]).toBe('attachment; filename="charge-lines-2026-03.ndjson"');
    const focus = await get(`focus?${MARCH}&check=true`);
    const [heads, ...rows] = parse(focus.body) as string[][];
    const place = heads!.indexOf("EffectiveCost");
    expect(rows.reduce((total, row) => total + Number(row[place]), 0)).toBe(18);
    const trail = (): Promise<readonly { what: string; subject: string; details: string }[]> =>
      store.query(
        "SELECT what, subject, details FROM audit WHERE who = 'finance' AND subject NOT LIKE 'page of %' ORDER BY subject, at, what DESC",
      );
    await vi.waitUntil(async () => (await trail()).length === 5, { timeout: 90_000, interval: 50 });
    const exports = (await trail()).map(({ details, ...entry }) => ({ ...entry, ...(JSON.parse(details) as object) }));
    const question = "span=2026-03&kind=showback&policy=default";
    const address = "127.0.0.1";
    const sent = (rows: number, body: string) => ({ address, rows, bytes: Buffer.byteLength(body), isComplete: true });
    const [file, linesFile] = ["focus-2026-03.csv", "charge-lines-2026-03.ndjson"];
    const rowsOfLines = lines.body.trim().split("\n").length;
    expect(exports).toEqual([
      { what: "export begun", subject: `FOCUS of ${question}`, address, file },
      { what: "export", subject: `FOCUS of ${question}`, file, ...sent(rows.length, focus.body) },
      { what: "export begun", subject: `lines of ${question}`, address, file: linesFile },
      { what: "export", subject: `lines of ${question}`, file: linesFile, ...sent(rowsOfLines, lines.body) },
      {
        what: "export",
        subject: `sums of ${question} by team`,
        ...sent(csv.body.trim().split("\r\n").length - 1, csv.body),
      },
    ]);
    const manifest = (await get(`focus?${MARCH}&check=true&format=manifest`)).json<FocusManifest>();
    expect(manifest).toMatchObject({
      sums: { EffectiveCost: "18" },
      unpriced: { lines: 0 },
      check: { isPassed: true },
    });
    expect(manifest.rows).toBe(rows.length);
    const html = await get(`charges?${MARCH}&format=html`);
    expect(html.headers["content-security-policy"]).toContain("style-src 'unsafe-inline'");
    expect(html.body).toContain('<data class="money" value="18" title="18 USD">18.00</data>');
  });

  it.skipIf(!hasChromium)("prints a document with the machine's Chromium", async () => {
    const pdf = await get(`charges?${MARCH}&format=pdf`);
    expect(pdf.headers["content-type"]).toBe("application/pdf");
    expect(pdf.rawPayload.subarray(0, 5).toString()).toBe("%PDF-");
  });

  it("explains what to do instead of printing if there is no browser", async () => {
    vi.stubEnv("PATH", "");
    const answer = await get(`charges?${MARCH}&format=pdf&by=state`);
    vi.unstubAllEnvs();
    expect(answer.statusCode).toBe(501);
    expect(problemSchema.parse(answer.json()).detail).toContain("print the HTML");
  });

  it("returns 304 until something is published", async () => {
    const path = "charges?span=2026-04";
    const first = await get(path);
    const seen = { "if-none-match": String(first.headers.etag) };
    expect(await get(path, FINANCE, seen)).toMatchObject({ statusCode: 304, body: "" });
    expect(await get(path, VISION, seen)).toMatchObject({ statusCode: 200 });
    await bookFixedCost(5n);
    const second = await vi.waitFor(
      async () => {
        const answer = await get(path, FINANCE, seen);
        expect(answer.statusCode).toBe(200);
        return answer;
      },
      { timeout: 90_000, interval: 100 },
    );
    const costs = [first, second].map((each) => read(chargesSchema, each).total.cost);
    expect(costs).toEqual([expect.not.stringMatching(/^5$/), "5"]);
  });

  describe("for the viewer of a team, the API", () => {
    it.each([
      { path: `charges?${MARCH}&by=team,state` },
      { path: `charges?${MARCH}&by=namespace,pod,cluster` },
      { path: `charges?${MARCH}&format=csv&by=team` },
      { path: `charges?${MARCH}&by=team&where=team=nlp` },
      { path: `charges?${MARCH}&format=html` },
      { path: `charges/lines?${MARCH}` },
      { path: `focus?${MARCH}` },
      { path: `focus?${MARCH}&format=manifest` },
      { path: `charges/lines?${MARCH}&format=ndjson&where=team=nlp,vision` },
      { path: "statements?period=2026-03" },
      { path: "statements?period=2026-03&team=nlp" },
      { path: `explain?${MARCH}` },
      { path: "explain?line=default/gpu-a/1@2026-03-31T22:10:00Z" },
      { path: `allocations?${MARCH}` },
      { path: "fleet" },
      { path: "queue" },
      { path: "periods" },
    ])("returns nothing of another team by $path", async ({ path }) => {
      const { body, statusCode } = await get(path, VISION);
      expect(statusCode).toBe(200);
      expect(body).not.toMatch(/n-0|(?<!GPU )platform/);
      expect(body.replaceAll(/"(values|where)":\[[^\]]*\]/g, "")).not.toContain("nlp");
    });

    it("gives the same answer for a hidden team as for an unknown one", async () => {
      const [theirs, nobodys] = await Promise.all(
        ["nlp", "nope"].map((team) => get(`charges?${MARCH}&where=team=${team}`, VISION)),
      );
      expect(theirs!.body.replaceAll("nlp", "nope")).toBe(nobodys!.body);
      expect(theirs!.json()).toMatchObject({ rows: [], total: { cost: "0" } });
    });

    it("returns values of all teams together only to finance", async () => {
      for (const path of ["prices", `owners?${MARCH}`])
        expect(problemOf(await get(path, VISION))).toMatchObject({
          status: 403,
          type: "urn:gpu-ledger:problem:not-allowed",
        });
      const { total } = read(chargesSchema, await get(`charges?${MARCH}`, VISION));
      expect(total.cost).toBe("6");
    });
  });

  describe("for a wrong request, the API", () => {
    it.each([
      { path: "charges?span=2026-13", parameter: "span" },
      { path: "charges?span=2026-03-05/2026-03-01", parameter: "span" },
      { path: "charges?span=2026-03-05/", parameter: "span" },
      { path: "charges?span=2020-01-01/2026-01-01", parameter: "span" },
      { path: "charges?by=teem", parameter: "by" },
      { path: "charges?by=team,state,gpu,node,pod,namespace,cluster", parameter: "by" },
      { path: "charges?where=nothing", parameter: "where" },
      { path: "charges?limit=100000", parameter: "limit" },
      { path: "charges?cursor=x", parameter: "cursor" },
      { path: "charges?policy=unkept", parameter: "policy" },
      { path: "charges?kind=chargeback&span=7d", parameter: "kind" },
      { path: "charges?kind=neither", parameter: "kind" },
      { path: "explain?line=x", parameter: "line" },
      { path: "statements?period=2026-3", parameter: "period" },
    ])("names the wrong parameter of $path", async ({ path, parameter }) => {
      const problem = problemOf(await get(path));
      expect(problem).toMatchObject({
        status: 400,
        errors: [{ parameter: expect.stringContaining(parameter) as string }],
      });
    });

    it("returns a problem document for unknown addresses", async () => {
      expect(problemOf(await get("nothing"))).toMatchObject({ status: 404, instance: "/api/v1/nothing" });
    });
  });
});
