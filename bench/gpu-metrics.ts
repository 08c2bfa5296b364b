import { monitorEventLoopDelay } from "node:perf_hooks";
import { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createPageGzip, sinkTo } from "../services/gpu-metrics.ts";
import { ownNodes } from "../services/live-pods.ts";
import { decodeClusterFact, decodeWorkload } from "../domain/messages/fact-message.ts";
import { createScrapeDecoder, encodeScrape } from "../domain/messages/scrape-message.ts";
import { createHoldings } from "../processors/ingest/holdings/holdings.ts";
import { createGpuPrices } from "../processors/live/gpu-price.ts";
import { createLiveDevices, type LiveDevices } from "../processors/live/gpus/devices.ts";
import { writeGpuPage } from "../processors/live/gpus/page.ts";
import { createLivePods } from "../processors/live/pods.ts";
import { createJoinStep, type JoinedScrape } from "../processors/ingest/steps/join.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { parseConfig } from "../runtime/config/load.ts";
import { inventoryFact, namespaceFact, NOON } from "../test/support/facts.ts";
import { COLUMNS, GPUS, nodeOf } from "./held-nodes.ts";
import { report } from "./report.ts";

const NODES = 12_500;
const INTERVAL_MILLIS = 15_000;
const ROUNDS = 7;
const PROMISED_MILLIS = 1_000;
const PARTITIONS = 64;
const ALL_PARTITIONS = new Set(Array.from({ length: PARTITIONS }, (_, partition) => partition));

const RESOLUTION_MILLIS = 1;

const { book, owners } = ledgerOf(
  parseConfig(
    `prices: [{ from: 2026-01-01, match: { instanceType: p5.48xlarge }, per: node-hour, list: "98.32" }]
owners: { team: [{ podLabel: team }, { namespaceLabel: team }], costCenter: [{ namespaceLabel: cost-center }] }`,
    { source: "bench", folder: ".", env: {} },
  ),
);

/**
 * `/metrics/gpu` of a processor with 100,000 GPUs, each held by a pod with a team and a cost center, on 12,500 priced nodes:
 * rendered repeatedly, with a new sample of every GPU in between, and the cost of the view in the pipeline and in memory.
 */
export async function benchGpuMetrics(): Promise<void> {
  let clock = NOON;
  const pods = createLivePods(owners, "max", () => clock);
  const holdings = createHoldings();
  pods.clusterFact(namespaceFact({ body: { labels: { "cost-center": "CC-4711" }, annotations: {} } }));
  const stables = Array.from({ length: NODES }, (_, number) => {
    const { name, stable, facts } = nodeOf(number);
    pods.inventory(inventoryFact({ node: name, uid: `uid-${name}` }));
    for (const { key, value } of facts) {
      const isOfCluster = key.includes("Resource");
      const fact = isOfCluster ? decodeClusterFact(value) : decodeWorkload(value);
      if ("invalid" in fact) throw new Error(fact.invalid);
      if ("kind" in fact) holdings.clusterFact(fact);
      else {
        holdings.workload(fact);
        pods.workload({ ...fact, workload: { kind: "Job", name: `train-${number >> 1}` } });
      }
    }
    return stable;
  });
  const decoder = createScrapeDecoder();
  const join = createJoinStep(holdings);
  const scrapes = (round: number): readonly JoinedScrape[] =>
    stables.map((stable) => {
      const scrape = decoder.decode(messageOf(stable, clock, round));
      if ("invalid" in scrape) throw new Error(scrape.invalid);
      const joined = join(scrape);
      if (joined.kind !== "ok") throw new Error(joined.kind);
      return joined.value;
    });
  scrapes(0);
  const before = megabytes();
  const devices = createLiveDevices({
    pods,
    isOwn: ownNodes(() => ALL_PARTITIONS, PARTITIONS),
    measure: "max",
    priceOf: createGpuPrices(book, (_, error) => {
      throw error;
    }),
    now: () => clock,
  });
  const labeling = feed(devices, scrapes(0));
  const first = await render(devices);
  const memory = (megabytes() - before) * 1e6;
  const gpus = NODES * GPUS;
  report("memory of the view", [memory / gpus], "bytes per GPU", {});
  report("adding a sample for the first time, with its labels", [(labeling * 1000) / gpus], "µs", {});
  report("the first page", [first.millis], "ms", { atMost: PROMISED_MILLIS });

  const feeding: number[] = [];
  const piping: number[] = [];
  const pages: Page[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    clock += INTERVAL_MILLIS;
    const started = performance.now();
    const joined = scrapes(round);
    piping.push(((performance.now() - started) * 1000) / gpus);
    feeding.push((feed(devices, joined) * 1000) / gpus);
    pages.push(await render(devices));
  }
  const millis = pages.map((page) => page.millis);
  report(`${gpus} GPUs rendered`, millis, "ms", { atMost: PROMISED_MILLIS });
  const heldUp = pages.map((page) => page.heldUp);
  report("the longest time without a turn for other work", heldUp, "ms", {});
  report("the page", [first.bytes / 1e6], "MB", {});
  report("adding a sample later", feeding, "µs", {});
  report("decoding and joining a sample, for comparison", piping, "µs", {});
  const zipped = await render(devices, true);
  report("rendered and compressed", [zipped.millis], "ms", {});
  report("the page, compressed", [zipped.bytes / 1e6], "MB", {});
}

/** The milliseconds for adding the scrapes. */
function feed(devices: LiveDevices, scrapes: readonly JoinedScrape[]): number {
  const started = performance.now();
  for (const scrape of scrapes) devices.take(scrape);
  return performance.now() - started;
}

interface Page {
  readonly millis: number;
  readonly bytes: number;
  /** The longest delay of a timer, in milliseconds. */
  readonly heldUp: number;
}

async function render(devices: LiveDevices, isZipped = false): Promise<Page> {
  let bytes = 0;
  const reader = new Writable({
    write(chunk: Buffer, _, done) {
      bytes += chunk.length;
      done();
    },
  });
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MILLIS });
  delay.enable();
  const started = performance.now();
  const gzip = createPageGzip();
  if (isZipped) gzip.pipe(reader);
  await writeGpuPage(devices, { currency: book.currency }, sinkTo(isZipped ? gzip : reader));
  if (isZipped) await finished(gzip.end());
  const millis = performance.now() - started;
  delay.disable();
  return { millis, bytes, heldUp: delay.max / 1e6 };
}

function messageOf(stable: Uint8Array, scrapedAtMillis: number, round: number): Uint8Array {
  const values = Float64Array.from({ length: GPUS * COLUMNS.length }, (_, index) => {
    const column = COLUMNS[index % COLUMNS.length]!;
    const part = ((index * 7919 + round * 104_729) % 1000) / 1000;
    return column.endsWith("_bytes") ? Math.round(part * 8e10) : column.endsWith("_ratio") ? part : part * 700;
  });
  const moment = { epoch: 1, sequence: round, intervalMillis: INTERVAL_MILLIS, durationMicros: 900, dropped: {} };
  return encodeScrape(stable, { ...moment, scrapedAtMillis }, values);
}

/** Returns the memory after a garbage collection, in and outside the heap. */
function megabytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}
