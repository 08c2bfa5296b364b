import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hash32 } from "../../collectors/exporters/targets/hash.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import type { Scrape } from "../../domain/scrape.ts";
import { openEmbeddedBus } from "../../runtime/bus/embedded/embedded-bus.ts";
import { systemClock } from "../../runtime/clock.ts";
import { startNumberedExporter } from "../support/chaos.ts";
import { createCommandFolder, type CommandFolder, type RunningCommand } from "../support/command.ts";
import type { ExporterDouble } from "../support/exporter-double.ts";
import { silent } from "../support/pipeline.ts";

/**
 * A target keeps its offset in the interval, so a restart costs it one scrape if it takes less than an interval, and two scrapes are 2 intervals
 * apart. A collector is away for 1 to 1.5 s, and for 4 s on a machine that has three processes for each of its cores. The usual interval is 30 s.
 */
const INTERVAL_MILLIS = 6_000;
/** A sample counts for this number of intervals, unless another one comes. */
const REACH_INTERVALS = 2.5;
const SHARDS = 2;
const TARGETS_PER_SHARD = 4;
const STEADY_MILLIS = 1.5 * INTERVAL_MILLIS;

let folder: CommandFolder;
const exporters: ExporterDouble[] = [];

beforeEach(() => {
  folder = createCommandFolder();
});
afterEach(async () => {
  await folder.dispose();
  await Promise.all(exporters.splice(0).map((exporter) => exporter.close()));
});

/** Exporters on free ports until each shard has enough of them. */
async function startExporters(): Promise<void> {
  const counts = Array.from({ length: SHARDS }, () => 0);
  while (Math.min(...counts) < TARGETS_PER_SHARD) {
    const exporter = await startNumberedExporter(exporters.length);
    exporters.push(exporter);
    counts[hash32(exporter.url) % SHARDS]! += 1;
  }
}

/** A collector as the pod of this number of the StatefulSet, when it is ready. */
async function startPod(config: string, ordinal: number): Promise<RunningCommand> {
  const env = { HOSTNAME: `gpu-ledger-collector-${ordinal}` };
  const pod = folder.start(["collect", "--shards", String(SHARDS), "--config", config], { env });
  const address = await pod.address();
  await expect.poll(async () => (await fetch(`${address}/readyz`)).status, { timeout: 15_000 }).toBe(200);
  return pod;
}

/** Every scrape on the bus, by target, in the order of time. */
async function readScrapes(): Promise<ReadonlyMap<string, readonly Scrape[]>> {
  const bus = await openEmbeddedBus({ folder: join(folder.path, "data", "bus"), clock: systemClock, logger: silent });
  const decoder = createScrapeDecoder();
  const scrapes = new Map<string, Scrape[]>();
  try {
    for (const { partition, low, high } of await bus.watermarks(SAMPLES_TOPIC)) {
      for (const { value } of await bus.read({ topic: SAMPLES_TOPIC, partition }, low, high - low)) {
        const scrape = decoder.decode(value!);
        if ("invalid" in scrape) throw new Error(scrape.invalid);
        scrapes.set(scrape.target, [...(scrapes.get(scrape.target) ?? []), scrape]);
      }
    }
  } finally {
    await bus.close();
  }
  for (const each of scrapes.values()) each.sort((a, b) => a.scrapedAtMillis - b.scrapedAtMillis);
  return scrapes;
}

const steady = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, STEADY_MILLIS));

it("a rolling restart of two collectors leaves no gap that is longer than a sample's reach", async () => {
  await startExporters();
  const config = folder.write("c.yaml", {
    data: "data",
    server: { listen: "127.0.0.1:0" },
    collector: {
      interval: `${INTERVAL_MILLIS}ms`,
      timeout: "1s",
      jobs: [{ name: "gpus", targets: exporters.map(({ url }) => url) }],
    },
  });
  const pods = await Promise.all([startPod(config, 0), startPod(config, 1)]);
  await steady();
  // As with a StatefulSet: the highest number first, and the next one when it is ready again.
  for (const ordinal of [1, 0]) {
    expect(await pods[ordinal]!.end("SIGTERM")).toMatchObject({ code: 0 });
    pods[ordinal] = await startPod(config, ordinal);
  }
  await steady();
  for (const pod of pods) expect(await pod.end("SIGTERM")).toMatchObject({ code: 0 });

  const scrapes = await readScrapes();
  expect([...scrapes.keys()].toSorted()).toEqual(exporters.map(({ url }) => url).toSorted());
  const gaps = [...scrapes.values()].flatMap((each) =>
    each.slice(1).map(({ scrapedAtMillis }, index) => scrapedAtMillis - each[index]!.scrapedAtMillis),
  );
  expect(Math.max(...gaps)).toBeLessThanOrEqual(REACH_INTERVALS * INTERVAL_MILLIS);
  for (const [target, each] of scrapes) {
    const collector = `gpu-ledger-collector-${hash32(target) % SHARDS}`;
    expect(new Set(each.map((scrape) => scrape.collector))).toEqual(new Set([collector]));
    // Each target was handed from one process to its successor once, with all of its scrapes and no failed one.
    const epochs = [...new Set(each.map(({ epoch }) => epoch))];
    expect(epochs).toHaveLength(2);
    for (const epoch of epochs) {
      const sequences = each.filter((scrape) => scrape.epoch === epoch).map(({ sequence }) => sequence);
      expect(sequences).toEqual(sequences.map((_, index) => index));
    }
    expect(each.filter(({ failure }) => failure !== undefined)).toEqual([]);
  }
});
