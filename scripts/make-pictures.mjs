// Makes the pictures of README.md: the demo's overview, fleet, GPU and explanation, light and dark, from a real start in Chromium.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";

const ADDRESS = "127.0.0.1:18481";
const OUT = "docs/pictures";
const SIZE = { width: 1280, height: 800 };
const START_MILLIS = 30 * 60_000;

const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-pictures-"));
const config = join(folder, "config.yaml");
writeFileSync(
  config,
  JSON.stringify({ data: join(folder, "data"), server: { listen: ADDRESS }, log: { level: "warn" } }),
);
const up = spawn(process.execPath, ["dist/cli/main.js", "up", "--config", config], { stdio: "inherit" });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  await untilCharged();
  mkdirSync(OUT, { recursive: true });
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ viewport: SIZE, colorScheme });
    const take = (name) => page.screenshot({ path: join(OUT, `${name}-${colorScheme}.png`) });
    const follow = async (link) => {
      await page.locator(link).first().click();
      await page.waitForLoadState("networkidle");
    };
    await page.goto(`http://${ADDRESS}/fleet`, { waitUntil: "networkidle" });
    await take("fleet");
    await follow("a[href^='/gpu?']");
    await follow("a:text-is('1 day')");
    await take("gpu");
    await page.goto(`http://${ADDRESS}/`, { waitUntil: "networkidle" });
    await take("overview");
    await follow("td a[href^='/explain']");
    await take("explanation");
    await page.close();
  }
} finally {
  await browser.close();
  up.kill("SIGTERM");
  if (up.exitCode === null) await once(up, "exit");
  rmSync(folder, { recursive: true });
}

/** Waits until the hours of the demo's history are charged. The running hour waits again with each change. */
async function untilCharged() {
  const until = Date.now() + START_MILLIS;
  let haveWaited = false;
  while (Date.now() < until) {
    await sleep(5_000);
    const status = await fetch(`http://${ADDRESS}/api/status`).then(
      (response) => response.json(),
      () => undefined,
    );
    const waiting = status?.processor?.hoursWaiting ?? 0;
    haveWaited ||= waiting > 1;
    if (haveWaited && waiting <= 1 && status.notReady.length === 0) return;
  }
  throw new Error(`the demo has not charged its history within ${START_MILLIS / 60_000} minutes`);
}
