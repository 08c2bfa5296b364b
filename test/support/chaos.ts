import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { startSystem as StartSystem, System } from "../../services/system.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { connectStore } from "../../runtime/store/connection.ts";
import { startExporterDouble, type ExporterDouble } from "./exporter-double.ts";
import { silent } from "./pipeline.ts";

const PARTS = ["collector", "processor", "store"] as const;

/** The result of a round of kills. */
export interface ChaosOutcome {
  readonly kills: number;
  readonly served: number;
  readonly stored: number;
  readonly missing: number;
}

/**
 * Runs the whole program with its embedded parts, kills the collector, the processor or the store at random moments, and compares the pages that the
 * exporters served completely with the stored rows. Each page of an exporter has its own number as its energy counter, so every page can be found
 * again: served = stored + at most one per target and kill of the collector, and no page twice.
 */
export async function runChaos(options: {
  readonly kills: number;
  readonly targets: number;
  readonly seed: number;
}): Promise<ChaosOutcome> {
  const { kills, targets } = options;
  const random = createRandom(options.seed);
  // The parts run from `dist/`, as in a release.
  const built = new URL("../../dist/services/system.js", import.meta.url).href;
  const { startSystem } = (await import(built)) as { startSystem: typeof StartSystem };
  const data = await mkdtemp(join(tmpdir(), "gpu-ledger-chaos-"));
  const exporters = await Promise.all(Array.from({ length: targets }, (_, index) => startNumberedExporter(index)));
  const config = parseConfig(configOf(data, exporters), { source: "chaos", folder: data, env: {} });
  const system = await startSystem({ config, version: "test", logger: silent });
  const store = connectStore(system.store, config);
  const killed = { collector: 0, processor: 0, store: 0 };
  try {
    await expect.poll(() => system.status().processor?.rowsStored ?? 0).toBeGreaterThan(0);
    for (let done = 0; done < kills;) {
      await morePages(exporters, 3);
      await pause(300 + random() * 2200);
      // A part that was killed a moment ago may still wait for its next start.
      const { processes } = system.status();
      const alive = PARTS.filter((part) => processes[part]?.id !== undefined);
      const part = alive[Math.floor(random() * alive.length)];
      if (part === undefined) continue;
      process.kill(processes[part]!.id!, "SIGKILL");
      killed[part] += 1;
      done += 1;
    }
    await settle(system, exporters, store);
    const served = servedBy(exporters);
    const [counts] = await store.query<{ stored: string; copies: string }>(
      "SELECT uniqExact(node, energy_joules) AS stored, count() AS copies FROM gpu_samples FINAL",
    );
    const stored = Number(counts!.stored);
    // If the same page were scraped twice, there would be two rows with one number.
    expect(Number(counts!.copies)).toBe(stored);
    expect(served - stored).toBeGreaterThanOrEqual(0);
    expect(served - stored).toBeLessThanOrEqual(targets * killed.collector);
    return { kills: killed.collector + killed.processor + killed.store, served, stored, missing: served - stored };
  } finally {
    await store.close();
    await system.stop();
    await Promise.all(exporters.map((exporter) => exporter.close()));
    await rm(data, { recursive: true, force: true });
  }
}

/** An exporter of one GPU. Its energy counter is the number of the page. */
export async function startNumberedExporter(index: number): Promise<ExporterDouble> {
  let page = 0;
  return startExporterDouble((_, response, double) => {
    page += 1;
    const labels = `gpu="0",UUID="GPU-${index}",Hostname="node-${index}"`;
    double.page(
      response,
      `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{${labels}} ${page * 1000}\nDCGM_FI_DEV_GPU_UTIL{${labels}} ${page % 100}\n`,
    );
  });
}

function configOf(data: string, exporters: readonly ExporterDouble[]): string {
  return JSON.stringify({
    data,
    log: { level: "error" },
    server: { listen: "127.0.0.1:0" },
    store: { rawDays: 40 },
    processor: { flushEvery: "500ms" },
    collector: {
      interval: "1s",
      timeout: "900ms",
      jobs: [{ name: "chaos", targets: exporters.map(({ url }) => url) }],
    },
  });
}

function servedBy(exporters: readonly ExporterDouble[]): number {
  return exporters.reduce((sum, { served }) => sum + served.length, 0);
}

/** Waits until the exporters have served some more pages: on a busy machine a part may need more time to start than there is between kills. */
async function morePages(exporters: readonly ExporterDouble[], more: number): Promise<void> {
  const before = servedBy(exporters);
  await expect.poll(() => servedBy(exporters)).toBeGreaterThanOrEqual(before + more);
}

/** Stops the serving of pages, and waits until all sent messages are stored. */
async function settle(system: System, exporters: readonly ExporterDouble[], store: StoreClient): Promise<void> {
  for (const exporter of exporters) exporter.behave((_, response) => void response.writeHead(503).end());
  const state = (): unknown => {
    const { collector, processor } = system.status();
    // Failed scrapes are still sent and stored: a few are always in transit.
    return {
      spool: (collector?.spool.messages ?? Infinity) <= exporters.length,
      lag: (processor?.lagMessages ?? Infinity) < exporters.length * 3,
    };
  };
  await pause(3000);
  await expect.poll(state).toEqual({ spool: true, lag: true });
  // All pages are stored if two checks find no new page.
  const count = async (): Promise<string> => {
    const rows = await store.query<{ n: string }>("SELECT count() AS n FROM gpu_samples").catch(() => []);
    return rows[0]?.n ?? "away";
  };
  for (let before = await count(); ;) {
    await pause(4000);
    const now = await count();
    if (now === before && now !== "away") return;
    before = now;
  }
}

/** A small generator of random numbers (mulberry32), so that a round can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pause(millis: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis));
}
