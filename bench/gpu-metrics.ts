import { monitorEventLoopDelay } from "node:perf_hooks";
import { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { createScrapeDecoder } from "../domain/messages/scrape-message.ts";
import { createHoldings } from "../processors/ingest/holdings/holdings.ts";
import { createJoinStep, type JoinedScrape } from "../processors/ingest/steps/join.ts";
import { createGpuPrices } from "../processors/live/gpu-price.ts";
import { createLiveDevices, type LiveDevices } from "../processors/live/gpus/devices.ts";
import { writeGpuPage } from "../processors/live/gpus/page.ts";
import { createLivePods } from "../processors/live/pods.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { parseConfig } from "../runtime/config/load.ts";
import { createPageGzip, sinkTo } from "../services/gpu-metrics.ts";
import { ownNodes } from "../services/live-pods.ts";
import { inventoryFact, namespaceFact, NOON } from "../test/support/facts.ts";
import { defineBench, report } from "./frame.ts";
import { factOf, GPUS, INTERVAL_MILLIS, messageOf, nodeOf } from "./held-nodes.ts";
import { liveMegabytes, secondsOf } from "./measure.ts";

const PROMISED_MILLIS = 1_000;
const PARTITIONS = 64;
const ALL_PARTITIONS = new Set(Array.from({ length: PARTITIONS }, (_, partition) => partition));

const { book, owners } = ledgerOf(
  parseConfig(
    `prices: [{ from: 2026-01-01, match: { instanceType: p5.48xlarge }, per: node-hour, list: "98.32" }]
owners: { team: [{ podLabel: team }, { namespaceLabel: team }], costCenter: [{ namespaceLabel: cost-center }] }`,
    { source: "bench", folder: ".", env: {} },
  ),
);

/**
 * `/metrics/gpu` of a processor with 100,000 GPUs, each held by a pod with a team and a cost center, on 12,500 priced nodes:
 * rendered repeatedly, with a new sample of every GPU in between, and the cost of the view in the pipeline and in memory. The index of holders
 * joins samples with pods. Holders are known by DRA on a fifth of the nodes, by annotations on a fifth, by labels on the others.
 */
export const gpuMetrics = defineBench({
  name: "gpu-metrics",
  about: "/metrics/gpu of GPUs with their owners, one core; memory of what is live",
  options: { gpus: 100_000, rounds: 7 },
  async run({ gpus, rounds }) {
    let clock = NOON;
    const nodes = Array.from({ length: gpus / GPUS }, (_, number) => nodeOf(number));
    const stables = nodes.map(({ stable }) => stable);
    const empty = liveMegabytes();
    const holdings = createHoldings();
    for (const { facts } of nodes)
      for (const fact of facts.map(factOf)) {
        if ("kind" in fact) holdings.clusterFact(fact);
        else holdings.workload(fact);
      }
    report("memory of the index of holders", ((liveMegabytes() - empty) * 1e6) / gpus, "bytes per workload");
    const pods = createLivePods(owners, "max", () => clock);
    pods.clusterFact(namespaceFact({ body: { labels: { "cost-center": "CC-4711" }, annotations: {} } }));
    for (const [number, { name, facts }] of nodes.entries()) {
      pods.inventory(inventoryFact({ node: name, uid: `uid-${name}` }));
      for (const fact of facts.map(factOf))
        if (!("kind" in fact)) pods.workload({ ...fact, workload: { kind: "Job", name: `train-${number >> 1}` } });
    }
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
    const before = liveMegabytes();
    const devices = createLiveDevices({
      pods,
      isOwn: ownNodes(() => ALL_PARTITIONS, PARTITIONS),
      measure: "max",
      priceOf: createGpuPrices(book, (_, error) => {
        throw error;
      }),
      now: () => clock,
    });
    await microsOfFeed(devices, scrapes(0));
    const first = await render(devices);
    report("memory of the view", ((liveMegabytes() - before) * 1e6) / gpus, "bytes per GPU");
    report("the first page", first.millis, "ms", { atMost: PROMISED_MILLIS });

    const [feeding, pages]: [number[], Page[]] = [[], []];
    for (let round = 1; round <= rounds; round++) {
      clock += INTERVAL_MILLIS;
      feeding.push((await microsOfFeed(devices, scrapes(round))) / gpus);
      pages.push(await render(devices));
    }
    const zipped = await render(devices, true);
    report(
      `${gpus} GPUs rendered`,
      pages.map(({ millis }) => millis),
      "ms",
      { atMost: PROMISED_MILLIS },
    );
    report(
      "the longest time without a turn for other work",
      pages.map(({ heldUp }) => heldUp),
      "ms",
    );
    report("the page", first.bytes / 1e6, "MB");
    report("adding a sample", feeding, "µs");
    report("rendered and compressed", zipped.millis, "ms");
    report("the page, compressed", zipped.bytes / 1e6, "MB");
  },
});

async function microsOfFeed(devices: LiveDevices, scrapes: readonly JoinedScrape[]): Promise<number> {
  const [seconds] = await secondsOf(() => {
    for (const scrape of scrapes) devices.take(scrape);
  });
  return seconds! * 1e6;
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
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const [seconds] = await secondsOf(async () => {
    const gzip = createPageGzip();
    if (isZipped) gzip.pipe(reader);
    await writeGpuPage(devices, { currency: book.currency }, sinkTo(isZipped ? gzip : reader));
    if (isZipped) await finished(gzip.end());
  });
  delay.disable();
  return { millis: seconds! * 1000, bytes, heldUp: delay.max / 1e6 };
}
