import { pino } from "pino";
import { parseExposition } from "../collectors/exporters/exposition/parse.ts";
import { matchPage } from "../collectors/exporters/page/match.ts";
import { createPageReader } from "../collectors/exporters/page/reader.ts";
import { createTemplates, type Templates } from "../collectors/exporters/page/templates.ts";
import { startReceiver, type Receiver } from "../collectors/prometheus/receive/receiver.ts";
import { compressed, writeV1, writeV2 } from "../test/support/remote-write.ts";
import { defineBench, report, type Kit } from "./frame.ts";
import { cpuOf } from "./measure.ts";
import { createMovingPage, messagesOfPage, nameOf, sourceOf, valuesOfPage } from "./page.ts";

const GPUS = 8;
const VERSIONS = [1, 2] as const;
/** The batches of Prometheus: `max_samples_per_send`. */
const BATCH = 2_000;
const INTERVAL_MILLIS = 30_000;
const FLEET_GPUS = 100_000;
/** The value of a sample before it is replaced. */
const MARK = 0.123456789;
const START = Date.UTC(2026, 2, 1);

/**
 * The CPU of samples that come by remote write, compared with that of scraped pages with the same values: targets of 8 GPUs. The
 * requests are those of Prometheus: 2,000 samples each, sorted by target, with the labels that it adds. The measured work is all from the
 * compressed body to the finished message: decompression, decoding, the write-ahead log with its syncs, and the messages. The CPU is that of
 * the whole process.
 */
export const remoteWrite = defineBench({
  name: "remote-write",
  about: "samples by remote write and the same by scrapes, one core",
  options: { targets: 1_250, rounds: 7 },
  async run({ targets, rounds }, kit) {
    const pages = Array.from({ length: targets }, (_, index) => createMovingPage(nameOf(index), GPUS));
    const values = targets * valuesOfPage(GPUS);
    const templates = createTemplates(1e9);
    const reader = createPageReader(templates);
    const numbers = new Float64Array(targets * (valuesOfPage(GPUS) + 1));
    let now = START;
    let messages = 0;
    const started = VERSIONS.map((version) => {
      const receiver = startBenchReceiver(
        kit,
        () => now,
        () => (messages += 1),
      );
      return { version, receiver, requests: requestsOf(pages, version), cpu: [] as number[] };
    });
    const scrapes: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      now = START + round * INTERVAL_MILLIS;
      for (const page of pages) page.collect();
      const moment = { epoch: START, sequence: round, scrapedAtMillis: now };
      const scrape = await cpuOf(() => {
        for (const [index, page] of pages.entries()) messagesOfPage(reader, sourceOf(nameOf(index)), page, moment);
      });
      if (round > 0) scrapes.push(scrape);
      numbersOf(pages, templates, numbers);
      for (const { version, receiver, requests, cpu } of started) {
        const bodies = movedTo(requests, numbers, now);
        messages = 0;
        const used = await cpuOf(async () => {
          for (const body of bodies) await receiver.receive(body, version);
          now += 11_000;
          // A tick of the receiver's own may have begun before the clock moved.
          await receiver.tick();
          await receiver.tick();
          now -= 11_000;
        });
        if (messages !== targets) throw new Error(`${messages} messages of ${targets} targets`);
        if (round > 0) cpu.push(used);
      }
    }
    const perMillion = (seconds: readonly number[]): number[] => seconds.map((one) => (one / values) * 1e6);
    report("scrape, by template, 1 million values", perMillion(scrapes), "s of CPU");
    const valuesPerSecond = (FLEET_GPUS * valuesOfPage(1)) / (INTERVAL_MILLIS / 1_000);
    for (const { version, cpu } of started) {
      report(`remote write ${version}.0, 1 million values`, perMillion(cpu), "s of CPU");
      report(
        "  to scrape",
        cpu.map((one, index) => one / scrapes[index]!),
        "times",
        { atMost: 1.5 },
      );
      const cores = cpu.map((one) => (one / values) * valuesPerSecond);
      report(`  of ${FLEET_GPUS} GPUs every 30 s`, cores, "cores", { atMost: 1 });
    }
    const { memoryBytes, series } = started[0]!.receiver.use;
    report("memory of a series", memoryBytes / series, "bytes");
  },
});

function startBenchReceiver(kit: Kit, now: () => number, onMessage: () => void): Receiver {
  const receiver = startReceiver({
    folder: kit.folder(),
    cluster: "bench",
    collector: "bench",
    intervalMillis: INTERVAL_MILLIS,
    labels: { externalLabels: ["cluster", "prometheus"], replicaLabels: ["prometheus_replica"] },
    limits: {
      uncompressedBytes: 32e6,
      series: 3_000_000,
      labels: 256,
      labelBytes: 4_096,
      memoryBytes: 2e9,
      diskBytes: 2e9,
      page: {},
    },
    sink: () => Promise.resolve(onMessage()),
    events: { onSamples: () => {}, onMoment: () => {}, onElected: () => {}, onSinkError: () => {} },
    clock: { nowMillis: now, monotonicMillis: now },
    logger: pino({ level: "silent" }),
  });
  kit.atEnd(() => receiver.stop());
  return receiver;
}

/** A request whose samples change in place. */
interface MovingRequest {
  readonly body: Buffer;
  /** The position of each value. The time follows it. */
  readonly positions: readonly number[];
  readonly first: number;
}

/** Returns the requests of all pages. Each sample has 8 bytes for its value, then a tag, then 6 bytes for its time. */
function requestsOf(pages: readonly { readonly bytes: Buffer }[], version: 1 | 2): MovingRequest[] {
  const encode = version === 1 ? writeV1 : writeV2;
  const series = pages.flatMap(({ bytes }, index) => {
    const added = {
      cluster: "bench",
      prometheus: "monitoring/k8s",
      prometheus_replica: "prometheus-k8s-0",
      job: "dcgm-exporter",
      instance: `10.${index >> 8}.${index & 255}.7:9400`,
      node: nameOf(index),
    };
    const samples = parseExposition(bytes).samples.map(({ name, labels }) => ({
      labels: { ...Object.fromEntries(labels), ...added, __name__: name },
      samples: [[START, MARK] as const],
    }));
    return [...samples, { labels: { ...added, __name__: "up" }, samples: [[START, MARK] as const] }];
  });
  const mark = Buffer.alloc(8);
  mark.writeDoubleLE(MARK);
  return Array.from({ length: Math.ceil(series.length / BATCH) }, (_, index) => {
    const first = index * BATCH;
    const body = encode(series.slice(first, first + BATCH));
    const positions: number[] = [];
    for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + 1)) positions.push(at);
    return { body, positions, first };
  });
}

/** Writes the values and the time of a collection into the requests. Returns their compressed bodies. */
function movedTo(requests: readonly MovingRequest[], values: Float64Array, atMillis: number): Buffer[] {
  return requests.map(({ body, positions, first }) => {
    for (const [index, position] of positions.entries()) {
      body.writeDoubleLE(values[first + index]!, position);
      let left = atMillis;
      for (let byte = 0; byte < 6; byte++) {
        body[position + 9 + byte] = (left % 128) + (byte < 5 ? 128 : 0);
        left = Math.floor(left / 128);
      }
    }
    return compressed(body);
  });
}

/** Reads the numbers of all pages by template; a target's `up` follows its numbers. */
function numbersOf(pages: readonly { readonly bytes: Buffer }[], templates: Templates, into: Float64Array): void {
  const width = valuesOfPage(GPUS);
  const raw = new Float64Array(width);
  for (const [index, { bytes }] of pages.entries()) {
    const template = templates.get(nameOf(index))!;
    if (!matchPage(bytes, template.layout, template, raw)) throw new Error("the page has changed");
    into.set(raw, index * (width + 1));
    into[index * (width + 1) + width] = 1;
  }
}
