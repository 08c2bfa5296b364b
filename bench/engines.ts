import { setTimeout as pause } from "node:timers/promises";
import { createPageReader, createReader, type PageReader } from "../collectors/exporters/page/reader.ts";
import { createTemplates } from "../collectors/exporters/page/templates.ts";
import { SERVING_PAGES } from "../collectors/exporters/serving/pages.ts";
import { createTenants, TENANT_RULES } from "../collectors/exporters/serving/tenants.ts";
import { createMovingEnginePage } from "./engine-page.ts";
import { defineBench, report, type Kit } from "./frame.ts";
import { cpuSeconds, secondsOf } from "./measure.ts";
import { createMovingPage, messagesOfPage, nameOf, sourceOf, type MovingPage } from "./page.ts";
import { startExporters, startUp, type Exporters } from "./parts.ts";

const GPUS = 8;
/** The whole fleet: 100,000 GPUs scraped every 30 s, and engines scraped every 15 s. */
const EXPORTERS = 12_500;
const ENGINES = 2_000;
const EXPORTER_SECONDS = 30;
const ENGINE_SECONDS = 15;
const ROUNDS = 7;
const PARTS = ["collector", "processor", "store"];

/**
 * The CPU that the pages of 2,000 vLLM engines, every 15 s, take beside the pages of 100,000 GPUs, every 30 s. First only reading by template
 * with the finished message, one core. Then the whole collector, with the `scraped`th part of both, in turns without and with the engines.
 */
export const engines = defineBench({
  name: "engines",
  about: "pages of 2,000 inference engines beside those of 100,000 GPUs",
  options: { pages: 1_250, scraped: 5, settle: 40, phase: 60, pairs: 3 },
  async run({ pages, ...options }, kit) {
    await measureReading(pages);
    await measureParts(kit, options);
  },
});

interface Read<Source> {
  readonly source: Source;
  readonly page: MovingPage;
}

async function measureReading(pages: number): Promise<void> {
  const names = Array.from({ length: pages }, (_, number) => nameOf(number));
  const ofGpus = names.map((node) => ({ source: sourceOf(node), page: createMovingPage(node, GPUS) }));
  const ofEngines = names.map((name) => {
    const place = { namespace: "chat", pod: `engine-${name}`, podUid: `uid-${name}`, node: "node" };
    const origin = { cluster: "bench", collector: "bench", ...place, target: `http://engine-${name}:8000/metrics` };
    const tenants = createTenants(TENANT_RULES);
    return { source: { key: name, origin, tenants }, page: createMovingEnginePage(place.pod) };
  });
  const readers = [createPageReader(createTemplates(1e9)), createReader(SERVING_PAGES, createTemplates(1e9))] as const;
  const first = [await microsOfPage(readers[0], ofGpus), await microsOfPage(readers[1], ofEngines)] as const;
  const micros = { gpus: [] as number[], engines: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    micros.gpus.push(await microsOfPage(readers[0], ofGpus));
    micros.engines.push(await microsOfPage(readers[1], ofEngines));
  }
  report(`a page of 8 GPUs (${ofGpus[0]!.page.bytes.length} bytes)`, micros.gpus, "µs");
  report(`a page of an engine (${ofEngines[0]!.page.bytes.length} bytes)`, micros.engines, "µs");
  report("the first page of an engine", first[1], "µs");
  const pagesOfEngines = ENGINES / ENGINE_SECONDS / (EXPORTERS / EXPORTER_SECONDS);
  const shares = micros.engines.map((each, round) => (pagesOfEngines * each) / micros.gpus[round]!);
  report("reading the pages of 2,000 engines, of reading those of 100,000 GPUs", shares, "", { atMost: 0.1 });
}

async function microsOfPage<Source>(reader: PageReader<Source>, pages: readonly Read<Source>[]): Promise<number> {
  for (const { page } of pages) page.collect();
  const [seconds] = await secondsOf(() => {
    for (const { source, page } of pages) messagesOfPage(reader, source, page);
  });
  return (seconds! * 1e6) / pages.length;
}

async function measureParts(
  kit: Kit,
  given: { readonly scraped: number; readonly settle: number; readonly phase: number; readonly pairs: number },
): Promise<void> {
  const { scraped, settle, phase, pairs } = given;
  const gpus = await startExporters(kit, EXPORTERS / scraped, GPUS);
  const served = await startExporters(kit, ENGINES / scraped, 0, "engines");
  const ofServed = [{ url: served.discovery, refresh: "1s" }];
  const jobs = [
    { name: "gpus", interval: `${EXPORTER_SECONDS}s`, http: [{ url: gpus.discovery }] },
    { name: "engines", reads: "serving", interval: `${ENGINE_SECONDS}s`, http: ofServed },
  ];
  const up = await startUp(kit, { collector: { jobs } });
  /** Returns the cores of each part, in proportion to the whole fleet. */
  const measure = async (isShown: boolean): Promise<readonly number[]> => {
    await show(served, isShown);
    await pause(settle * 1000);
    const before = PARTS.map((part) => cpuSeconds(up.processes[part]!));
    await pause(phase * 1000);
    return PARTS.map((part, index) => (scraped * (cpuSeconds(up.processes[part]!) - before[index]!)) / phase);
  };
  await measure(true);
  const without: (readonly number[])[] = [];
  const beside: (readonly number[])[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    without.push(await measure(false));
    beside.push(await measure(true));
  }
  const { total, up: answering } = up.system.status().collector!.targets;
  report(`targets up, of ${total}`, answering);
  for (const [index, part] of PARTS.entries()) {
    const of = (runs: readonly (readonly number[])[]): readonly number[] => runs.map((cores) => cores[index]!);
    report(`${part} without engines, in proportion to ${EXPORTERS} targets`, of(without), "cores");
    report(`${part} with engines, in proportion to ${ENGINES} more`, of(beside), "cores");
  }
  const more = beside.map(([cores], pair) => cores! / without[pair]![0]! - 1);
  report("more CPU of the collector", more, "", { atMost: 0.1 });
}

async function show({ discovery }: Exporters, isShown: boolean): Promise<void> {
  await (await fetch(new URL(isShown ? "/show" : "/hide", discovery))).arrayBuffer();
}
