import { AxeBuilder } from "@axe-core/playwright";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Viewer } from "../../reports/access/viewer.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { openBooks } from "../support/books.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { requirePart } from "../support/parts.ts";
import { createTestDatabase } from "../support/pipeline.ts";
import { scenarioWith } from "../support/played.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";

const NOON = Date.UTC(2026, 2, 31, 12);
const HOSTILE = `<img src=x onerror="document.title='taken'">'";--\u202E`;
const CONFIG = 'prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "3.00" }]';

/** Four GPUs for four hours: of vision, of nlp, of a team with a name that is markup, and a free one. */
const FLEET = scenarioWith({
  period: { start: "2026-03-31T08:00:00Z", end: "2026-03-31T12:00:00Z" },
  nodes: [
    { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 4, instanceType: "p4d", until: "2026-03-31T12:00:00Z" },
  ],
  namespaces: {
    vision: { labels: { team: "vision" } },
    nlp: { labels: { team: "nlp" } },
    odd: { labels: { team: HOSTILE } },
  },
  pods: ["vision", "nlp", "odd"].map((namespace, place) => ({
    name: `${namespace}-0`,
    namespace,
    node: "gpu-a",
    holds: { gpus: 1 },
    devices: [place],
    activity: 0.25 * (place + 1),
  })),
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
});

const PAGES = [
  "/",
  "/?span=7d",
  "/fleet",
  "/queue",
  "/statement?period=2026-03",
  "/statement?period=2026-03&team=vision&costCenter=",
  "/explain?span=2026-03",
  "/explain?line=default/gpu-a/0@2026-03-31T09:30:00Z",
  "/team?team=vision&span=2026-03",
  "/workload?cluster=default&namespace=vision&pod=vision-0&span=2026-03",
  "/node?cluster=default&node=gpu-a&span=2026-03",
  "/gpu?cluster=default&node=gpu-a&gpu=0&span=2026-03",
  "/policies?span=2026-03",
  "/periods",
];
const OF_ALL = ["/prices?span=2026-03", "/quality"];
const EMPTY = ["/?span=2025-01", "/team?team=nobody", "/explain?span=2025-01", "/statement?period=2025-01", "/login"];

const isThere = await requirePart("chromium");

describe.skipIf(!isThere)("pages in a browser", () => {
  let embedded: TestStore;
  let store: StoreClient;
  let server: ReportsServer;
  let browser: Browser;
  let origin: string;

  /** Opens pages as somebody, and notes what a browser complains about and asks of other hosts. */
  async function visit(
    as: Viewer,
    options: Parameters<Browser["newContext"]>[0],
    work: (page: Page, context: BrowserContext) => Promise<void>,
  ): Promise<void> {
    server.viewer = as;
    const context = await browser.newContext(options);
    const complaints: string[] = [];
    try {
      const page = await context.newPage();
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("request", (request) => {
        if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) complaints.push(request.url());
      });
      await work(page, context);
      expect(complaints).toEqual([]);
    } finally {
      await context.close();
    }
  }

  beforeAll(async () => {
    embedded = await startTestStore();
    store = await createTestDatabase(embedded, "pages");
    const books = openBooks(store, FLEET);
    await books.arrive(FLEET);
    await books.settle(NOON);
    server = await createReportsServer(store, NOON, CONFIG);
    origin = await server.fastify.listen({ host: "127.0.0.1", port: 0 });
    browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await store.close();
    await embedded.stop();
  });

  describe.each([
    { role: "finance", as: FINANCE, paths: [...PAGES, ...OF_ALL, ...EMPTY] },
    {
      role: "a team's viewer",
      as: VISION,
      paths: ["/", "/fleet", "/statement?period=2026-03", "/explain?span=2026-03"],
    },
  ])("of $role", ({ as, paths }) => {
    it.each(paths.map((path) => ({ path })))("shows $path without a complaint, to everybody", async ({ path }) => {
      await visit(as, { viewport: { width: 1280, height: 900 } }, async (page) => {
        const answer = await page.goto(origin + path);
        expect(answer?.status()).toBe(200);
        expect(await page.locator("h1").count()).toBe(1);
        expect(await page.title()).toContain("gpu-ledger");
        const { violations } = await new AxeBuilder({ page }).analyze();
        expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      });
    });
  });

  it.each([...PAGES, ...OF_ALL].map((path) => ({ path })))(
    "fits $path on a telephone, in the dark",
    async ({ path }) => {
      const phone = { viewport: { width: 375, height: 740 }, colorScheme: "dark", isMobile: true } as const;
      await visit(FINANCE, phone, async (page) => {
        await page.goto(origin + path);
        const wider = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        expect(wider).toBe(0);
        const { violations } = await new AxeBuilder({ page }).withRules(["color-contrast"]).analyze();
        expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      });
    },
  );

  it("leads from the largest figure to the samples behind it in under six clicks", async () => {
    await visit(FINANCE, {}, async (page) => {
      await page.goto(`${origin}/?span=2026-03`);
      await page.locator("h1 a").click();
      await page.getByRole("link", { name: "active" }).first().click();
      await page
        .getByRole("link", { name: /^GPU \d of gpu-a/ })
        .first()
        .click();
      expect(page.url()).toContain("line=default");
      const chart = page.getByRole("img", { name: /samples from .* activity from/ });
      expect(await chart.locator("path").count()).toBeGreaterThan(10);
    });
  });

  it("works by keyboard alone: the first stop leads to the content, and links can be reached and followed", async () => {
    await visit(FINANCE, {}, async (page) => {
      await page.goto(`${origin}/?span=2026-03`);
      await page.keyboard.press("Tab");
      expect(await page.evaluate("document.activeElement.textContent")).toContain("To the content");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/explain/);
    });
  });

  it("works without a script: a choice has a button", async () => {
    await visit(FINANCE, { javaScriptEnabled: false }, async (page) => {
      await page.goto(`${origin}/?span=2026-03`);
      await page.getByLabel("Time").selectOption("7d");
      await page.getByRole("button", { name: "Show" }).click();
      expect(page.url()).toContain("span=7d");
      expect(await page.locator("h1").textContent()).toContain("48.00 USD");
    });
  });

  it("takes no name for markup", async () => {
    await visit(FINANCE, {}, async (page) => {
      await page.goto(`${origin}/?span=2026-03`);
      const team = page.getByRole("link", { name: "onerror" });
      expect(await team.count()).toBe(1);
      await team.first().click();
      expect(await page.locator("h1").textContent()).toBe(`Team ${HOSTILE}`);
      expect(await page.title()).not.toContain("taken");
      expect(await page.locator("img").count()).toBe(0);
    });
  });

  it("sends at most 150 kB a page", async () => {
    for (const path of [...PAGES, ...OF_ALL]) {
      const { rawPayload } = await server.get(path);
      expect({ path, isSmall: rawPayload.length <= 150_000 }).toEqual({ path, isSmall: true });
    }
  });

  it.each([
    { path: "/nothing", status: 404, says: "The overview" },
    { path: "/?span=2026-13", status: 400, says: "2026-13" },
    { path: "/?policy=unkept", status: 400, says: "whose charges are kept" },
    { path: "/statement?period=soon", status: 400, says: "a month" },
  ])("says of $path what is wrong, and what to do next", async ({ path, status, says }) => {
    const answer = await server.get(path, FINANCE, { accept: "text/html" });
    expect(answer.statusCode).toBe(status);
    expect(answer.body).toContain(says);
    expect(answer.body).toContain('href="/"');
  });

  it.each([{ path: "/prices" }, { path: "/quality" }])("keeps $path from a team's viewer", async ({ path }) => {
    const answer = await server.get(path, VISION, { accept: "text/html" });
    expect(answer.statusCode).toBe(403);
    expect(answer.body).not.toContain("nlp");
  });

  it.each(PAGES.map((path) => ({ path })))("tells a team's viewer nothing of others on $path", async ({ path }) => {
    const { body } = await server.get(path, VISION);
    expect(body).not.toMatch(/nlp|onerror|platform</);
  });
});
