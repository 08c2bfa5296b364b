import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { launchChromium, visitPage } from "../support/chromium.ts";
import { createTestDatabase } from "../support/database.ts";
import { requirePart } from "../support/parts.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";
import { playTrainingFleet, TRAINING_CONFIG } from "../support/training/fleet.ts";
import { clock } from "../support/training/pods.ts";

const isThere = requirePart("chromium");
const DAY = "span=2026-03-02";
const LLAMA = encodeURIComponent("default/vision/JobSet/llama@2026-03-02T08:00:00.000Z");
const PATHS = [
  `/training?${DAY}`,
  "/training?span=2025-01",
  `/training/run?id=${LLAMA}`,
  `/training/incidents?${DAY}`,
  "/training/incidents?span=2025-01",
];

describe.skipIf(!isThere)("the pages of training runs in a browser", () => {
  let store: StoreClient;
  let server: ReportsServer;
  let browser: Browser;
  let origin: string;

  const visit = (options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> =>
    visitPage(browser, origin, options, work);

  beforeAll(async () => {
    store = await createTestDatabase("training_pages");
    await playTrainingFleet(store);
    server = await createReportsServer(store, clock("12:30"), TRAINING_CONFIG);
    server.viewer = FINANCE;
    origin = await server.fastify.listen({ host: "127.0.0.1", port: 0 });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await store.close();
  });

  it.each(PATHS.map((path) => ({ path })))(
    "show $path without a complaint, accessibly and on a telephone",
    async ({ path }) => {
      await visit({ viewport: { width: 1280, height: 900 } }, async (page) => {
        expect((await page.goto(origin + path))?.status()).toBe(200);
        expect(await page.locator("h1").count()).toBe(1);
        const { violations } = await new AxeBuilder({ page }).analyze();
        expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      });
      const phone = { viewport: { width: 375, height: 740 }, colorScheme: "dark", isMobile: true } as const;
      await visit(phone, async (page) => {
        await page.goto(origin + path);
        expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(
          0,
        );
        const { violations } = await new AxeBuilder({ page }).withRules(["color-contrast"]).analyze();
        expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      });
    },
  );

  it("lead from the list to a run, with sums that are those of the API", async () => {
    await visit({}, async (page) => {
      await page.goto(`${origin}/training?${DAY}`);
      const table = page.getByRole("region", { name: /^Training runs/ });
      // 57.12 + 10.20, and of them 7.20 lost and 0.90 estimated.
      const foot = await table.locator("tfoot td").allTextContents();
      expect(foot).toEqual(expect.arrayContaining(["67.32", "7.20", "0.90"]));
      await page.getByRole("link", { name: "vision/llama" }).click();
      expect(await page.locator("h1").textContent()).toBe("vision/llama has succeeded");
      const bill = page.getByRole("region", { name: /^By parts/ });
      expect(await bill.locator("tfoot").textContent()).toContain("57.12");
      expect(await page.getByRole("region", { name: /^Stops/ }).textContent()).toContain("XID 79 on GPU 0: gpu-b");
      expect(await page.locator(".notice").textContent()).toContain("Suggestion:");
      expect(await page.locator("dl.figures").textContent()).toContain("76.9 %");
      const timeline = page.getByRole("img", { name: /^The run from 2026-03-02 08:00:00 UTC/ }).first();
      expect(await timeline.getAttribute("aria-label")).toContain("starting, training, recovering, lost progress.");
    });
  });

  it("lead from an incident to the run that it stopped", async () => {
    await visit({}, async (page) => {
      await page.goto(`${origin}/training/incidents?${DAY}`);
      await page
        .getByRole("region", { name: /^Incidents/ })
        .getByRole("link", { name: "llama" })
        .click();
      expect(page.url()).toContain("/training/run?");
    });
  });

  it("are found by the search", async () => {
    const { items } = (await server.get("/api/v1/search?q=llama", FINANCE)).json<{ items: readonly object[] }>();
    expect(items).toContainEqual(expect.objectContaining({ kind: "run", to: "/training?span=7d&runs.find=llama" }));
  });

  it("have only the runs of a viewer's teams", async () => {
    for (const path of [`/training?${DAY}`, `/training/incidents?${DAY}`]) {
      const { body } = await server.get(path, VISION);
      expect(body).toContain("llama");
      expect(body).not.toMatch(/nlp|eval\b|gpu-d/);
    }
    server.viewer = FINANCE;
  });
});
