import { createPageReader, messagesOf } from "../collectors/exporters/page/reader.ts";
import { matchPage } from "../collectors/exporters/page/match.ts";
import { createTemplates } from "../collectors/exporters/page/templates.ts";
import { createMovingPage, valuesOfPage } from "./page.ts";
import { report } from "./report.ts";

const GPUS = 8;
const TARGETS = 12_500;
const DISTINCT_PAGES = 1_250;
const ROUNDS = 7;

/**
 * Reading 67 kB pages of 12,500 distinct targets by template on one core: first only the parse, then with the
 * finished message. Every target has its own template, because its label blocks differ. Pages of 1,250 targets at a time
 * are in memory, so that neither pages nor templates stay in the processor's cache, and their numbers change between
 * rounds.
 */
export function benchParse(): void {
  const templates = createTemplates(1e9);
  const reader = createPageReader(templates);
  const sources = Array.from({ length: TARGETS }, (_, index) => {
    const node = `node-${String(index).padStart(6, "0")}`;
    const origin = { cluster: "bench", node, target: `http://${node}:9400/metrics`, collector: "bench" };
    return { key: origin.target, origin: () => origin, node };
  });
  const full = time(() => {
    for (const source of sources) reader.read(source, createMovingPage(source.node, GPUS).bytes, true);
  });
  const raw = new Float64Array(valuesOfPage(GPUS));
  const parsed: number[] = [];
  const folded: number[] = [];
  let bytes = 0;
  let messageBytes = 0;
  let templated = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let parseSeconds = 0;
    let foldSeconds = 0;
    bytes = 0;
    messageBytes = 0;
    templated = 0;
    for (let from = 0; from < TARGETS; from += DISTINCT_PAGES) {
      const some = sources.slice(from, from + DISTINCT_PAGES);
      const pages = some.map(({ node }) => {
        const page = createMovingPage(node, GPUS);
        for (let collection = 0; collection <= round; collection++) page.collect();
        return page.bytes;
      });
      parseSeconds += time(() => {
        some.forEach(({ key }, i) => {
          const template = templates.get(key)!;
          if (matchPage(pages[i]!, template.layout, template, raw)) templated += 1;
        });
      });
      foldSeconds += time(() => {
        some.forEach((source, i) => {
          const reading = reader.read(source, pages[i]!, true);
          if ("failure" in reading) throw new Error(reading.failure.detail);
          const moment = {
            epoch: 1,
            sequence: round,
            scrapedAtMillis: 1_770_000_000_000 + round,
            intervalMillis: 30_000,
            durationMicros: 1,
          };
          for (const { message } of messagesOf(reading, moment)) messageBytes += message.length;
        });
      });
      for (const page of pages) bytes += page.length;
    }
    if (templated !== TARGETS) throw new Error(`only ${templated} of ${TARGETS} pages were read by template`);
    parsed.push(bytes / parseSeconds / 1e9);
    folded.push(bytes / foldSeconds / 1e9);
  }
  const pageBytes = Math.round(bytes / TARGETS);
  report("parse, by template", parsed, "GB/s", { atLeast: 1.5 });
  report("parse and fold into the message", folded, "GB/s", { atLeast: 1.0 });
  const stats = templates.stats;
  report("templates", [stats.bytes / 1e6], "MB", {});
  report("first page of a target, rendered and parsed in full", [(full / TARGETS) * 1e6], "µs", {});
  process.stdout.write(
    `  ${TARGETS} targets, ${GPUS} GPUs, ${valuesOfPage(GPUS)} values, ${pageBytes} bytes a page, ${Math.round(messageBytes / TARGETS)} bytes a message\n`,
  );
}

function time(run: () => void): number {
  const started = process.hrtime.bigint();
  run();
  return Number(process.hrtime.bigint() - started) / 1e9;
}
