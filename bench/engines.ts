import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { createPageReader, createReader, messagesOf, type PageReader } from "../collectors/exporters/page/reader.ts";
import { createTemplates } from "../collectors/exporters/page/templates.ts";
import { SERVING_PAGES } from "../collectors/exporters/serving/pages.ts";
import { createTenants, TENANT_RULES } from "../collectors/exporters/serving/tenants.ts";
import { parseConfig } from "../runtime/config/load.ts";
import { startSystem } from "../services/system.ts";
import { createMovingEnginePage } from "./engine-page.ts";
import { createMovingPage, type MovingPage } from "./page.ts";
import { cpuSeconds, pause, startExporters, type ExporterProcess } from "./process.ts";
import { report } from "./report.ts";

const GPUS = 8;
/** The whole fleet: 100,000 GPUs scraped every 30 s, and engines scraped every 15 s. */
const EXPORTERS = 12_500;
const ENGINES = 2_000;
const EXPORTER_SECONDS = 30;
const ENGINE_SECONDS = 15;

const PAGES = 1_250;
const ROUNDS = 7;

/** The part of the fleet that is really scraped, and the times of a measurement. */
const SCRAPED = 5;
const SETTLE_SECONDS = 40;
const PHASE_SECONDS = 60;
const PAIRS = 3;

/**
 * The CPU that the pages of 2,000 vLLM engines, every 15 s, take beside the pages of 100,000 GPUs, every 30 s. First only reading by template
 * with the finished message, one core. Then the whole collector, with a fifth of both, in turns without and with the engines.
 */
export async function benchEngines(): Promise<void> {
  benchReading();
  await benchCollector();
}

interface Read<Source> {
  readonly source: Source;
  readonly page: MovingPage;
}

function benchReading(): void {
  const common = { cluster: "bench", collector: "bench" };
  const names = Array.from({ length: PAGES }, (_, index) => String(index).padStart(6, "0"));
  const exporters = names.map((name) => {
    const origin = { ...common, node: `node-${name}`, target: `http://node-${name}:9400/metrics` };
    return { source: { key: name, origin: () => origin }, page: createMovingPage(origin.node, GPUS) };
  });
  const engines = names.map((name) => {
    const place = { namespace: "chat", pod: `engine-${name}`, podUid: `uid-${name}`, node: "node" };
    const origin = { ...common, ...place, target: `http://engine-${name}:8000/metrics` };
    const tenants = createTenants(TENANT_RULES);
    return { source: { key: name, origin, tenants }, page: createMovingEnginePage(place.pod) };
  });
  const ofExporters = createPageReader(createTemplates(1e9));
  const ofEngines = createReader(SERVING_PAGES, createTemplates(1e9));
  const first = [microsOfPage(ofExporters, exporters), microsOfPage(ofEngines, engines)] as const;
  const micros = { exporters: [] as number[], engines: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    micros.exporters.push(microsOfPage(ofExporters, exporters));
    micros.engines.push(microsOfPage(ofEngines, engines));
  }
  const [bytes, lines] = [exporters[0]!.page.bytes.length, engines[0]!.page.bytes.length];
  report(`a page of 8 GPUs (${bytes} bytes)`, micros.exporters, "µs", {});
  report(`a page of an engine (${lines} bytes)`, micros.engines, "µs", {});
  report("the first page of an engine", [first[1]], "µs", {});
  const perSecond = ENGINES / ENGINE_SECONDS / (EXPORTERS / EXPORTER_SECONDS);
  report(
    "reading the pages of 2,000 engines, of reading those of 100,000 GPUs",
    micros.engines.map((each, round) => (perSecond * each) / micros.exporters[round]!),
    "",
    { atMost: 0.1 },
  );
}

function microsOfPage<Source>(reader: PageReader<Source>, pages: readonly Read<Source>[]): number {
  for (const { page } of pages) page.collect();
  const started = process.hrtime.bigint();
  for (const { source, page } of pages) {
    const reading = reader.read(source, page.bytes, true);
    if ("failure" in reading) throw new Error(reading.failure.detail);
    messagesOf(reading, { epoch: 1, sequence: 1, scrapedAtMillis: 1, intervalMillis: 1, durationMicros: 1 });
  }
  return Number(process.hrtime.bigint() - started) / 1e3 / pages.length;
}

async function benchCollector(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-"));
  const exporters = await startExporters(EXPORTERS / SCRAPED, GPUS);
  const engines = await startExporters(ENGINES / SCRAPED, 0, "engines");
  const jobs = [
    { name: "gpus", interval: `${EXPORTER_SECONDS}s`, http: [{ url: exporters.discovery }] },
    {
      name: "engines",
      reads: "serving",
      interval: `${ENGINE_SECONDS}s`,
      http: [{ url: engines.discovery, refresh: "1s" }],
    },
  ];
  const text = JSON.stringify({
    data,
    log: { level: "error" },
    server: { listen: "127.0.0.1:0" },
    collector: { jobs },
  });
  const config = parseConfig(text, { source: "bench", folder: data, env: {} });
  const system = await startSystem({ config, version: "bench", logger: pino({ level: "error" }, pino.destination(2)) });
  try {
    const phase = async (isShown: boolean): Promise<readonly number[]> => {
      await show(engines, isShown);
      await pause(SETTLE_SECONDS * 1000);
      const parts = ["collector", "processor", "store"].map((part) => system.status().processes[part]!.id!);
      const before = parts.map(cpuSeconds);
      await pause(PHASE_SECONDS * 1000);
      return parts.map((id, index) => (SCRAPED * (cpuSeconds(id) - before[index]!)) / PHASE_SECONDS);
    };
    await phase(true);
    const without: (readonly number[])[] = [];
    const beside: (readonly number[])[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      without.push(await phase(false));
      beside.push(await phase(true));
    }
    const { total, up } = system.status().collector!.targets;
    process.stdout.write(`    ${up} of ${total} targets up; in proportion to ${EXPORTERS} and ${ENGINES} targets:\n`);
    for (const [index, part] of ["collector", "processor", "store"].entries()) {
      report(
        `${part} without engines`,
        without.map((cores) => cores[index]!),
        "cores",
        {},
      );
      report(
        `${part} with engines`,
        beside.map((cores) => cores[index]!),
        "cores",
        {},
      );
    }
    report(
      "more CPU of the collector",
      beside.map(([cores], pair) => cores! / without[pair]![0]! - 1),
      "",
      { atMost: 0.1 },
    );
  } finally {
    await system.stop();
    exporters.stop();
    engines.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

async function show({ discovery }: ExporterProcess, isShown: boolean): Promise<void> {
  await (await fetch(new URL(isShown ? "/show" : "/hide", discovery))).arrayBuffer();
}
