import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { expect } from "vitest";

/** The longest time of one action in a page. A large page beside other tests takes several times its usual time. */
const LONGEST_ACTION_MILLIS = 120_000;

/** Starts Chromium of the system without a window. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
}

/**
 * Opens a page in a context of its own for the time of `work`. Fails if the page had an error, or sent a request to another host than
 * `origin`.
 */
export async function visitPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions,
  work: (page: Page, context: BrowserContext) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(LONGEST_ACTION_MILLIS);
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
