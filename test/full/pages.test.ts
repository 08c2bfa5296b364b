import { readFileSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Viewer } from "../../reports/access/viewer.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { launchChromium, visitPage } from "../support/chromium.ts";
import { EMPTY, HOSTILE, NOON, OF_ALL, PAGES, createPagesDatabase, PRICES_CONFIG } from "../support/pages-fleet.ts";
import { requirePart } from "../support/parts.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";
import { CARDS, keepSampleAdvice } from "../support/sample-advice.ts";

const isThere = requirePart("chromium");

describe.skipIf(!isThere)("pages in a browser", () => {
  let store: StoreClient;
  let server: ReportsServer;
  let browser: Browser;
  let origin: string;

  /** Opens pages as a viewer. */
  async function visit(
    as: Viewer,
    options: BrowserContextOptions,
    work: (page: Page, context: BrowserContext) => Promise<void>,
  ): Promise<void> {
    server.viewer = as;
    await visitPage(browser, origin, options, work);
  }

  beforeAll(async () => {
    store = await createPagesDatabase("pages_seen");
    await keepSampleAdvice(store);
    server = await createReportsServer(store, NOON, PRICES_CONFIG);
    origin = await server.fastify.listen({ host: "127.0.0.1", port: 0 });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await store.close();
  });

  describe.each([
    { role: "finance", as: FINANCE, paths: [...PAGES, ...OF_ALL, ...EMPTY] },
    {
      role: "a team's viewer",
      as: VISION,
      paths: ["/", "/fleet", "/statement?period=2026-03", "/explain?span=2026-03"],
    },
  ])("of $role", ({ as, paths }) => {
    it.each(paths.map((path) => ({ path })))("show $path without a complaint, and accessibly", async ({ path }) => {
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
    "fit $path on a telephone, in dark colors",
    async ({ path }) => {
      const phone = { viewport: { width: 375, height: 740 }, colorScheme: "dark", isMobile: true } as const;
      await visit(FINANCE, phone, async (page) => {
        await page.goto(origin + path);
        const wider = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        expect(wider).toBe(0);
        // A chart's texts are twelve pixels if it is drawn at the size at which it is shown.
        const scales = (await page.evaluate(
          "[...document.querySelectorAll('.chart svg')].map((svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)",
        )) as readonly number[];
        expect(scales.filter((scale) => scale > 0 && scale < 0.8)).toEqual([]);
        expect(scales.filter((scale) => scale > 0)).toHaveLength(scales.length / 2);
        const { violations } = await new AxeBuilder({ page }).withRules(["color-contrast"]).analyze();
        expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      });
    },
  );

  it("lead from the largest figure to its samples in under six clicks", async () => {
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

  it("lead from the largest saving to the lines of its change, and to its file", async () => {
    await visit(VISION, {}, async (page) => {
      await page.goto(`${origin}/?span=2026-03`);
      await page.getByRole("link", { name: /^Workload that does nothing/ }).click();
      expect(await page.getByRole("region", { name: "The lines of the change" }).textContent()).toBe(
        "kubectl -n vision delete job/train",
      );
      expect(await page.getByRole("region", { name: "The file for a what-if" }).textContent()).toContain("release:");
      const charts = page.getByRole("img", { name: /in each hour/ });
      expect(await charts.count()).toBe(3);
      const saved = page.waitForEvent("download");
      await page.getByRole("link", { name: /^Save as / }).click();
      const file = await saved;
      expect(file.suggestedFilename()).toMatch(/-idle-workload\.sh$/);
      const text = readFileSync(await file.path(), "utf8");
      expect(text).toContain("# gpu-ledger changes nothing in a cluster. Read this file first.");
      expect(text).toMatch(/^kubectl -n vision delete job\/train$/m);
    });
  });

  it("select all lines of a change with one click", async () => {
    await visit(FINANCE, {}, async (page) => {
      await page.goto(`${origin}/advice/card?id=${CARDS.nodes}`);
      await page.getByRole("region", { name: "The lines of the change" }).locator("code").click();
      expect(await page.evaluate("String(getSelection())")).toBe("kubectl -n nodes delete job/train");
    });
  });

  it("filter cards as soon as a kind is chosen", async () => {
    await visit(FINANCE, {}, async (page) => {
      await page.goto(`${origin}/advice`);
      expect(await page.locator("tbody").first().locator("tr").count()).toBe(4);
      await page.locator("select[name=kind]").selectOption("fewer-replicas");
      await page.getByRole("button", { name: "Show" }).click();
      await page.waitForURL(/kind=fewer-replicas/);
      expect(await page.locator("tbody").first().locator("tr").count()).toBe(1);
    });
  });

  it("suggest names of a search, by keyboard alone", async () => {
    await visit(FINANCE, {}, async (page) => {
      await page.goto(`${origin}/fleet`);
      await page.keyboard.press("/");
      await page.keyboard.type("vision");
      await page.locator(".search li").first().waitFor();
      expect(await page.locator(".search li").allTextContents()).toEqual([
        "visionteam",
        "visionnamespace · default",
        "vision-0workload · vision, vision",
        "vision-0pod · vision",
      ]);
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Escape");
      expect(await page.evaluate("document.activeElement.name")).toBe("q");
      await page.keyboard.type(" ");
      await page.locator(".search li").first().waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/team\?team=vision/);
    });
  });

  it("keep the chosen colors on the next page", async () => {
    await visit(FINANCE, { colorScheme: "light" }, async (page) => {
      await page.goto(`${origin}/fleet`);
      await page.getByLabel("Colors").selectOption("dark");
      await page.goto(`${origin}/queue`);
      const scheme = await page.evaluate("getComputedStyle(document.documentElement).colorScheme");
      expect([scheme, await page.getByLabel("Colors").inputValue()]).toEqual(["dark", "dark"]);
    });
  });

  it("show the time of two days", async () => {
    await visit(FINANCE, {}, async (page) => {
      await page.goto(origin);
      await page.getByLabel("or from").fill("2026-03-30");
      await page.getByLabel("to", { exact: true }).fill("2026-03-31");
      await page.getByRole("button", { name: "Show" }).click();
      await page.waitForURL(/span=2026-03-30%2F2026-04-01/);
      expect(await page.getByLabel("or from").inputValue()).toBe("2026-03-30");
    });
  });

  it("work by keyboard alone: the first stop leads to the content, and links can be reached and followed", async () => {
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

  it("stay while a choice is made, and show it by a button (WCAG 3.2.2)", async () => {
    await visit(FINANCE, {}, async (page) => {
      await page.goto(`${origin}/?span=2026-03`);
      await page.locator("select[name=span]").press("ArrowDown");
      await page.locator("select[name=span]").selectOption("7d");
      expect(page.url()).toContain("span=2026-03");
      await page.getByRole("button", { name: "Show" }).click();
      expect(page.url()).toContain("span=7d");
      expect(await page.locator("h1").textContent()).toContain("48.00 USD");
    });
  });

  it("show the API, and can send requests to it", async () => {
    await visit(FINANCE, {}, async (page) => {
      await page.goto(`${origin}/api/v1/docs/`);
      await page.getByText("/api/v1/periods").click();
      await page.getByRole("button", { name: "Try it out" }).click();
      await page.getByRole("button", { name: "Execute" }).click();
      const answer = page.locator(".live-responses-table .response-col_description code").first();
      await expect.poll(() => answer.textContent()).toContain('"status": "running"');
    });
  });

  it("treat no name as markup", async () => {
    await visit(FINANCE, {}, async (page) => {
      await page.goto(`${origin}/?span=2026-03`);
      const team = page.getByRole("link", { name: "onerror" });
      expect(await team.count()).toBe(1);
      await team.first().click();
      expect(await page.locator("h1").textContent()).toBe(`Team ${HOSTILE}`);
      expect(await page.title()).toBe(`Team ${HOSTILE} · gpu-ledger`);
      expect(await page.locator("img").count()).toBe(0);
    });
  });
});
