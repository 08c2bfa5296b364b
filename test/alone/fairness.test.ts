import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { startCollector } from "../../collectors/exporters/collector.ts";
import type { ScrapeJob } from "../../collectors/exporters/collector-model.ts";
import { machineClock } from "../../collectors/exporters/loop.ts";
import { createStaticDiscovery } from "../../collectors/exporters/targets/static.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { dcgmPage } from "../support/dcgm-page.ts";
import { hostilePages } from "../support/hostile-pages.ts";
import { pushedPage, startReceiverWorld } from "../support/receiver-world.ts";
import { compressed, writeV1 } from "../support/remote-write.ts";

const HEALTHY = 1_000;
const INTERVAL_MILLIS = 15_000;
const ROUNDS = 4;
const FLOODS = 3;
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function serve(pageOf: (path: string) => Buffer): Promise<string> {
  const server: Server = createServer((request, response) => response.end(pageOf(request.url ?? "/")));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A neighbor of the healthy targets: its own job, if it is scraped, and the number of times that it has done harm. */
interface Neighbor {
  readonly url?: string;
  readonly harm: () => number;
}

async function startHostileTarget(): Promise<Neighbor> {
  const worst = hostilePages(8_000_000);
  let asked = 0;
  return { url: await serve(() => worst[(asked += 1) % worst.length]!.first), harm: () => asked };
}

/** Sends requests of a million samples of one target, 1 ms apart, one after another. */
async function startFlood(): Promise<Neighbor> {
  const world = await startReceiverWorld({
    clock: machineClock,
    limits: { uncompressedBytes: 64_000_000, memoryBytes: 500_000_000, diskBytes: 1_000_000_000 },
  });
  const { labels } = pushedPage({ atMillis: 0, gpus: 1 })[0]!;
  const begun = Date.now() - 3_600_000;
  const bodies = Array.from({ length: FLOODS }, (_, index) => {
    const samples = Array.from({ length: 1_000_000 }, (__, millis): [number, number] => [
      begun + index * 1_000_000 - 2_000_000 + millis,
      millis % 100,
    ]);
    return compressed(writeV1([{ labels, samples }]));
  });
  let isStopping = false;
  let sent = 0;
  const flooding = (async () => {
    while (!isStopping) {
      await world.receiver.receive(bodies[(sent += 1) % FLOODS]!, 1);
      await delay(2_000);
    }
  })();
  cleanups.push(async () => {
    isStopping = true;
    await flooding;
    await world.receiver.stop();
    expect(world.dropped["too-often"]).toBeGreaterThan(1_000_000);
  });
  return { harm: () => sent };
}

it.each([
  ["a target with hostile pages", startHostileTarget],
  ["a sender of a million samples of one target", startFlood],
])("a thousand healthy targets stay fresh beside %s", async (name, startNeighbor) => {
  // Made in advance, because the pages are served by the same process.
  const pages = new Map(
    Array.from({ length: HEALTHY }, (_, index) => [
      `/node-${index}`,
      Buffer.from(dcgmPage({ gpus: 8, host: `node-${index}`, value: () => String(index % 100) })),
    ]),
  );
  const healthy = await serve((path) => pages.get(path)!);
  const neighbor = await startNeighbor();

  const jobOf = (name: string, urls: readonly string[], intervalMillis: number): ScrapeJob => ({
    name,
    reads: { kind: "gpus" },
    discoveries: [createStaticDiscovery(urls.map((url) => ({ url, labels: {} })))],
    intervalMillis,
    timeoutMillis: intervalMillis,
    bodyLimitBytes: 32_000_000,
    gzip: false,
    redirects: "origin",
    credentials: {},
    tls: undefined,
  });
  const decoder = createScrapeDecoder();
  const ages: number[] = [];
  const failed: string[] = [];
  let skipped = 0;
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const collector = startCollector({
    name: "c",
    cluster: "prod",
    jobs: [
      jobOf(
        "healthy",
        Array.from({ length: HEALTHY }, (_, index) => `${healthy}/node-${index}`),
        INTERVAL_MILLIS,
      ),
      ...(neighbor.url === undefined ? [] : [jobOf("hostile", [neighbor.url], 1_000)]),
    ],
    shard: { index: 0, count: 1 },
    templateBytes: 256e6,
    limits: {},
    sink(_, { value }) {
      const scrape = decoder.decode(value);
      if ("invalid" in scrape) throw new Error(scrape.invalid);
      if (scrape.target.startsWith(healthy)) ages.push(Date.now() - scrape.scrapedAtMillis);
      return Promise.resolve();
    },
    events: {
      onScrape(job, target, { failure }) {
        if (job === "healthy" && failure !== undefined) failed.push(`${target}: ${failure.reason}`);
      },
      onSkipped: (job, _, count) => void (skipped += job === "healthy" ? count : 0),
      onTargets: () => {},
      onRefused: () => {},
      onDiscoveryError: () => {},
      onSinkError: (_job, _target, error) => expect.unreachable(String(error)),
    },
    startTrace: () => undefined,
    clock: machineClock,
  });
  cleanups.push(() => collector.stop());
  await delay(ROUNDS * INTERVAL_MILLIS);
  loop.disable();
  const sorted = ages.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)]!;
  process.stdout.write(
    `fairness: ${ages.length} healthy scrapes, p99 ${p99} ms, longest ${sorted.at(-1)} ms; ${neighbor.harm()} times ${name}; ` +
      `event loop p99.9 ${(loop.percentile(99.9) / 1e6).toFixed(0)} ms, longest ${(loop.max / 1e6).toFixed(0)} ms\n`,
  );
  expect(neighbor.harm()).toBeGreaterThan(5);
  expect(ages.length).toBeGreaterThan((ROUNDS - 1) * HEALTHY);
  expect(failed).toEqual([]);
  expect(skipped).toBe(0);
  expect(p99).toBeLessThan(10_000);
});
