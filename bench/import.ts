import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseExposition } from "../collectors/exporters/exposition/parse.ts";
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
const HOUR_MILLIS = 3_600_000;
const HOURS = 8;
const HOURS_OF_MONTH = 30 * 24;
const SCRAPES_OF_WRITE = 10;
const RUNS = 3;
const FROM = Date.UTC(2026, 2, 1);

/**
 * An import of 1,000 GPUs with 25 series each by the command, in a process of its own: from a real Prometheus, to a real Kafka broker, with all
 * of them on this machine. Eight hours are imported, of which a month has ninety.
 */
export async function benchImport(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-import-"));
  const server = await startWritablePrometheus();
  const broker = await startKafkaBroker({ steady: true });
  try {
    await fill(server.url);
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
      const until = new Date(FROM + HOURS * HOUR_MILLIS).toISOString();
      const asked = ["--url", server.url, "--from", new Date(FROM).toISOString(), "--until", until, "--config", config];
      const minutes: number[] = [];
      const megabytes: number[] = [];
      let beside = "";
      for (let run = 0; run < RUNS; run++) {
        const before = [cpuSeconds(server.processId), cpuSeconds(broker.processId)] as const;
        const begun = performance.now();
        const child = spawn(process.execPath, [PROGRAM, "import", "prometheus", ...asked], {
          stdio: ["ignore", "pipe", "ignore"],
        });
        let [most, cpu] = [0, 0];
        const watch = setInterval(() => {
          if (child.exitCode !== null) return;
          most = Math.max(most, ownMegabytes(child.pid!));
          cpu = cpuSeconds(child.pid!);
        }, 50);
        const [printed] = await Promise.all([text(child.stdout), ended(child, "gpu-ledger import")]);
        clearInterval(watch);
        const seconds = (performance.now() - begun) / 1000;
        const expected = (NODES * (HOURS * HOUR_MILLIS)) / INTERVAL_MILLIS;
        if (!printed.includes(`imported ${expected.toLocaleString("en")} scrapes`)) throw new Error(printed);
        minutes.push(((seconds / 60) * HOURS_OF_MONTH) / HOURS);
        megabytes.push(most);
        const [ofServer, ofBroker] = [
          cpuSeconds(server.processId) - before[0],
          cpuSeconds(broker.processId) - before[1],
        ];
        beside = `${seconds.toFixed(1)} s; CPU seconds: import ${cpu.toFixed(1)}, Prometheus ${ofServer.toFixed(1)}, broker ${ofBroker.toFixed(1)}`;
      }
      report(`a month of ${NODES * GPUS_OF_NODE} GPUs, from ${HOURS} h`, minutes, "min", { atMost: 15 });
      report("  memory of the process", megabytes, "MB", { atMost: 600 });
      process.stdout.write(`    the last run: ${beside}\n`);
    });
  } finally {
    await broker.dispose();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Fills a server with the scrapes of all nodes. */
async function fill(url: string): Promise<void> {
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
  const scrapes = (HOURS * HOUR_MILLIS) / INTERVAL_MILLIS;
  for (let scrape = 0; scrape < scrapes; scrape++) {
    for (const [index, { page, series }] of targets.entries()) {
      page.collect();
      const lines = page.bytes
        .toString("latin1")
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"));
      for (const [row, line] of lines.entries()) {
        series[row]!.times.push(FROM + scrape * INTERVAL_MILLIS + index * 200);
        series[row]!.values.push(Number(line.slice(line.lastIndexOf(" ") + 1)));
      }
    }
    if ((scrape + 1) % SCRAPES_OF_WRITE !== 0) continue;
    const all: readonly (WrittenSeries & { readonly times: number[]; readonly values: number[] })[] = targets.flatMap(
      ({ series }) => series,
    );
    if (all.length !== NODES * valuesOfPage(GPUS_OF_NODE)) throw new Error("the pages have other series");
    await writeSamples(url, all);
    for (const { times, values } of all) times.length = values.length = 0;
  }
}
