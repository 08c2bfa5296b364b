import { matchPage } from "../collectors/exporters/page/match.ts";
import { createPageReader } from "../collectors/exporters/page/reader.ts";
import { createTemplates } from "../collectors/exporters/page/templates.ts";
import { slicesOf } from "../runtime/in-turns.ts";
import { defineBench, report } from "./frame.ts";
import { secondsOf } from "./measure.ts";
import { createMovingPage, messagesOfPage, nameOf, sourceOf, valuesOfPage } from "./page.ts";

const GPUS = 8;
const DISTINCT_PAGES = 1_250;

/**
 * Reading 67 kB pages of distinct targets by template on one core: first only the parse, then with the
 * finished message. Every target has its own template, because its label blocks differ. Pages of 1,250 targets at a time
 * are in memory, so that neither pages nor templates stay in the processor's cache, and their numbers change between
 * rounds.
 */
export const parse = defineBench({
  name: "parse",
  about: "reading pages by template, one core",
  options: { targets: 12_500, rounds: 7 },
  async run({ targets, rounds }) {
    const templates = createTemplates(1e9);
    const reader = createPageReader(templates);
    const nodes = Array.from({ length: targets }, (_, number) => nameOf(number));
    for (const node of nodes) messagesOfPage(reader, sourceOf(node), createMovingPage(node, GPUS));
    const raw = new Float64Array(valuesOfPage(GPUS));
    const parsed: number[] = [];
    const folded: number[] = [];
    let [bytes, messageBytes] = [0, 0];
    for (let round = 0; round < rounds; round++) {
      const seconds = { parse: 0, fold: 0 };
      [bytes, messageBytes] = [0, 0];
      for (const some of slicesOf(nodes, DISTINCT_PAGES)) {
        const pages = some.map((node) => {
          const page = createMovingPage(node, GPUS);
          for (let collection = 0; collection <= round; collection++) page.collect();
          return { node, page };
        });
        const [matching] = await secondsOf(() => {
          for (const { node, page } of pages) {
            const template = templates.get(node)!;
            if (!matchPage(page.bytes, template.layout, template, raw))
              throw new Error("a page was not read by template");
          }
        });
        const [folding] = await secondsOf(() => {
          for (const { node, page } of pages)
            for (const message of messagesOfPage(reader, sourceOf(node), page)) messageBytes += message.length;
        });
        seconds.parse += matching!;
        seconds.fold += folding!;
        for (const { page } of pages) bytes += page.bytes.length;
      }
      parsed.push(bytes / seconds.parse / 1e9);
      folded.push(bytes / seconds.fold / 1e9);
    }
    report("parse, by template", parsed, "GB/s", { atLeast: 1.5 });
    report("parse and fold into the message", folded, "GB/s", { atLeast: 1.0 });
    report("templates", templates.stats.bytes / 1e6, "MB");
    report(`a page of ${GPUS} GPUs, ${valuesOfPage(GPUS)} values`, bytes / targets, "bytes");
    report("a message", messageBytes / targets, "bytes");
  },
});
