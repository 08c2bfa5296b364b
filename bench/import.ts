import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseExposition } from "../collectors/exporters/exposition/parse.ts";
import { HOUR_MILLIS } from "../domain/time.ts";
import { startKafkaBroker } from "../test/support/kafka-broker.ts";
import { startWritablePrometheus } from "../test/support/prometheus-server.ts";
import { writeSamples, type WrittenSeries } from "../test/support/prometheus-writer.ts";
import { withStore } from "./ledger.ts";
import { createMovingPage, valuesOfPage } from "./page.ts";
import { cpuSeconds, ended, ownMegabytes } from "./process.ts";
import { report } from "./report.ts";

const PROGRAM = fileURLToPath(new URL("../cli/main.js", import.meta.url));
const NODES = 125;
const GPUS_OF_NODE = 8;
const INTERVAL_MILLIS = 30_000;
/** A long and a short import: their difference has no start of the program and no survey. */
const HOURS = 10;
const SHORT_HOURS = 2;
const HOURS_OF_MONTH = 30 * 24;
const SCRAPES_OF_WRITE = 10;
const RUNS = 3;
/** No processor stores the messages of this bench. */
const UNBOUNDED = ["--ahead", "1000000000"];
const FROM = Date.UTC(2026, 2, 1);

/**
 * An import of 1,000 GPUs with 25 series each by the command, in a process of its own: from a real Prometheus, to a real Kafka broker, with all
 * of them on this machine.
 */
export async function benchImport(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-import-"));
  const server = await startWritablePrometheus();
  const broker = await startKafkaBroker({ steady: true });
  try {
    await fillPast(server.url, { hours: HOURS, from: FROM });
    await withStore(async ({ address: { url, username, password, database } }) => {
      const config = join(folder, "gpu-ledger.json");
      writeFileSync(
        config,
        JSON.stringify({
          data: join(folder, "data"),
          bus: { kind: "kafka", kafka: { brokers: [broker.address], replicationFactor: 1, minInsyncReplicas: 1 } },
          store: { kind: "clickhouse", database, rawDays: 3650, clickhouse: { url, username, password } },
        }),
      );
      const minutes: number[] = [];
      const megabytes: number[] = [];
      for (let run = 0; run < RUNS; run++) {
        const short = await importOf(config, server.url, SHORT_HOURS);
        const before = [cpuSeconds(server.processId), cpuSeconds(broker.processId)] as const;
        const long = await importOf(config, server.url, HOURS);
        const perHour = (long.seconds - short.seconds) / (HOURS - SHORT_HOURS);
        minutes.push((short.seconds + perHour * (HOURS_OF_MONTH - SHORT_HOURS)) / 60);
        megabytes.push(long.megabytes);
        const beside = [cpuSeconds(server.processId) - before[0], cpuSeconds(broker.processId) - before[1]];
        process.stdout.write(
          `    ${HOURS} h in ${long.seconds.toFixed(1)} s, ${SHORT_HOURS} h in ${short.seconds.toFixed(1)} s; CPU seconds of ${HOURS} h: import ${long.cpu.toFixed(1)}, Prometheus ${beside[0]!.toFixed(1)}, broker ${beside[1]!.toFixed(1)}\n`,
        );
      }
      report(`a month of ${NODES * GPUS_OF_NODE} GPUs, from ${HOURS - SHORT_HOURS} h`, minutes, "min", { atMost: 15 });
      report("  memory of the process", megabytes, "MB", { atMost: 600 });
    });
  } finally {
    await broker.dispose();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Imports the first hours by the command. Returns the time, the CPU time and the most memory of its process. */
async function importOf(
  config: string,
  url: string,
  hours: number,
): Promise<{ readonly seconds: number; readonly cpu: number; readonly megabytes: number }> {
  const [from, until] = [FROM, FROM + hours * HOUR_MILLIS].map((at) => new Date(at).toISOString());
  const asked = ["--url", url, "--from", from!, "--until", until!, "--config", config, ...UNBOUNDED];
  const begun = performance.now();
  const child = spawn(process.execPath, [PROGRAM, "import", "prometheus", ...asked], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let [megabytes, cpu] = [0, 0];
  const watch = setInterval(() => {
    if (child.exitCode !== null) return;
    megabytes = Math.max(megabytes, ownMegabytes(child.pid!));
    cpu = cpuSeconds(child.pid!);
  }, 50);
  const [printed] = await Promise.all([text(child.stdout), ended(child, "gpu-ledger import")]);
  clearInterval(watch);
  const expected = (NODES * hours * HOUR_MILLIS) / INTERVAL_MILLIS;
  if (!printed.includes(`imported ${expected.toLocaleString("en")} scrapes`)) throw new Error(printed);
  return { seconds: (performance.now() - begun) / 1000, cpu, megabytes };
}

/** Fills a server with the scrapes of 125 nodes of 8 GPUs, every 30 s, and with the series of `beside` of the same times. */
export async function fillPast(
  url: string,
  {
    hours,
    from,
    beside,
  }: {
    readonly hours: number;
    readonly from: number;
    readonly beside?: (from: number, until: number) => readonly WrittenSeries[];
  },
): Promise<void> {
  const targets = Array.from({ length: NODES }, (_, index) => {
    const page = createMovingPage(`gpu-node-${String(index).padStart(5, "0")}`, GPUS_OF_NODE);
    const added = { job: "dcgm", instance: `10.0.0.${index}:9400` };
    const series = parseExposition(page.bytes).samples.map(({ name, labels }) => ({
      labels: { ...Object.fromEntries(labels), ...added, __name__: name },
      times: [] as number[],
      values: [] as number[],
    }));
    return { page, series };
  });
  const scrapes = (hours * HOUR_MILLIS) / INTERVAL_MILLIS;
  for (let scrape = 0; scrape < scrapes; scrape++) {
    for (const [index, { page, series }] of targets.entries()) {
      page.collect();
      const lines = page.bytes
        .toString("latin1")
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"));
      for (const [row, line] of lines.entries()) {
        series[row]!.times.push(from + scrape * INTERVAL_MILLIS + index * 200);
        series[row]!.values.push(Number(line.slice(line.lastIndexOf(" ") + 1)));
      }
    }
    if ((scrape + 1) % SCRAPES_OF_WRITE !== 0) continue;
    const all: readonly (WrittenSeries & { readonly times: number[]; readonly values: number[] })[] = targets.flatMap(
      ({ series }) => series,
    );
    if (all.length !== NODES * valuesOfPage(GPUS_OF_NODE)) throw new Error("the pages have other series");
    await writeSamples(url, all);
    const until = from + (scrape + 1) * INTERVAL_MILLIS;
    if (beside !== undefined) await writeSamples(url, beside(until - SCRAPES_OF_WRITE * INTERVAL_MILLIS, until));
    for (const { times, values } of all) times.length = values.length = 0;
  }
}
