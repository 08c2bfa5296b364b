import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { startSystem, type System } from "../services/system.ts";
import { parseConfig } from "../runtime/config/load.ts";
import { valuesOfPage } from "./page.ts";
import { cpuSeconds, pause, ownMegabytes, startExporters } from "./process.ts";
import { report } from "./report.ts";

const GPUS = 8;
const TARGETS = 1_000;

interface Measured {
  readonly cpuPerMillion: number;
  readonly values: number;
  readonly parts: Readonly<Record<string, number>>;
  /** The CPU time of other programs: exporters, Prometheus. */
  readonly beside: Readonly<Record<string, number>>;
}

/**
 * From scrape to stored row on embedded parts: 1,000 targets of 8 GPUs and 25 values, at several intervals; CPU seconds
 * of collector, processor and store, per million values stored. Debian's Prometheus scrapes the same targets at the same
 * time, and the exporters' own CPU time is shown separately.
 */
export async function benchPipeline(): Promise<void> {
  for (const seconds of [15, 1, 5, 30]) {
    const measured = await measure(TARGETS, seconds, seconds === 15 ? 300 : 120);
    reportMeasured(`${TARGETS} targets every ${seconds} s`, measured, seconds === 15 ? { atMost: 3.5 } : {});
  }
}

function reportMeasured(what: string, measured: Measured, promised: { readonly atMost?: number }): void {
  const millions = measured.values / 1e6;
  const perMillion = (cpu: number): string => (cpu / millions).toFixed(2);
  const parts = (of: Readonly<Record<string, number>>): string =>
    Object.entries(of)
      .map(([part, cpu]) => `${part} ${perMillion(cpu)}`)
      .join(", ");
  report(`${what}, CPU-s per million values`, [measured.cpuPerMillion], "", promised);
  process.stdout.write(
    `    ${parts(measured.parts)}; beside it ${parts(measured.beside)}; ${millions.toFixed(2)} million values\n`,
  );
}

/** 100,000 GPUs: 12,500 targets every 30 s for 5 minutes, with the exporters on the same machine. */
export async function benchFleet(): Promise<void> {
  const targets = 12_500;
  const seconds = 300;
  const exporters = await startExporters(targets, GPUS);
  await withSystem(exporters.discovery, 30, async (system) => {
    await pause(75_000);
    const started = system.status().processor?.rowsStored ?? 0;
    const fresh: number[] = [];
    let memory = 0;
    for (let second = 0; second < seconds; second += 5) {
      await pause(5_000);
      const { processor, processes } = system.status();
      fresh.push(processor?.freshnessSeconds?.p99 ?? Number.NaN);
      memory = Math.max(memory, ownMegabytes(processes["collector"]!.id!));
    }
    const { processor, collector } = system.status();
    const rows = (processor?.rowsStored ?? 0) - started;
    report("rows stored of those due", [rows / ((targets * (GPUS + 1) * seconds) / 30)], "", { atLeast: 0.99 });
    report("freshness p99 (worst look of 60)", [Math.max(...fresh)], "s", { atMost: 10 });
    report("collector's memory at its highest", [memory], "MB", { atMost: 512 });
    process.stdout.write(
      `    ${collector?.targets.up} of ${collector?.targets.total} targets up, lag ${processor?.lagMessages}\n`,
    );
  });
  exporters.stop();
}

async function measure(targets: number, intervalSeconds: number, seconds: number): Promise<Measured> {
  const exporters = await startExporters(targets, GPUS);
  const prometheus = await startPrometheus(exporters.discovery, intervalSeconds);
  let measured: Measured | undefined;
  const used = (system: System) => ({
    rows: system.status().processor?.rowsStored ?? 0,
    parts: {
      ...Object.fromEntries(Object.entries(system.status().processes).map(([part, { id }]) => [part, cpuSeconds(id!)])),
      up: cpuSeconds(process.pid),
    },
    beside: {
      exporters: cpuSeconds(exporters.processId),
      ...(prometheus === undefined ? {} : { Prometheus: prometheus.cpu() }),
    },
  });
  await withSystem(exporters.discovery, intervalSeconds, async (system) => {
    // Long enough for the first parse of every page, and for the compilation of hot code.
    await pause(120_000);
    const before = used(system);
    await pause(seconds * 1000);
    const after = used(system);
    const parts = difference(after.parts, before.parts);
    // A scrape has its own row beside those of its GPUs.
    const values = ((after.rows - before.rows) * valuesOfPage(GPUS)) / (GPUS + 1);
    const total = Object.values(parts).reduce((sum, cpu) => sum + cpu, 0);
    measured = {
      cpuPerMillion: (total * 1e6) / values,
      values,
      parts,
      beside: difference(after.beside, before.beside),
    };
  });
  prometheus?.stop();
  exporters.stop();
  return measured!;
}

function difference(
  after: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - before[name]!]));
}

async function withSystem(
  discovery: string,
  intervalSeconds: number,
  use: (system: System) => Promise<void>,
): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-"));
  const text = JSON.stringify({
    data,
    log: { level: "error" },
    server: { listen: "127.0.0.1:0" },
    collector: {
      interval: `${intervalSeconds}s`,
      timeout: `${Math.min(10, intervalSeconds)}s`,
      jobs: [{ name: "bench", http: [{ url: discovery }] }],
    },
  });
  const config = parseConfig(text, { source: "bench", folder: data, env: {} });
  const system = await startSystem({ config, version: "bench", logger: pino({ level: "error" }, pino.destination(2)) });
  try {
    await use(system);
  } finally {
    await system.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** Prometheus on the same targets, with its storage; `undefined` if it is not installed. */
async function startPrometheus(
  discovery: string,
  intervalSeconds: number,
): Promise<{ readonly cpu: () => number; readonly stop: () => void } | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-prometheus-"));
  const config = {
    global: { scrape_interval: `${intervalSeconds}s`, scrape_timeout: `${Math.min(10, intervalSeconds)}s` },
    scrape_configs: [{ job_name: "bench", honor_labels: true, http_sd_configs: [{ url: discovery }] }],
  };
  writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(config));
  const child: ChildProcess = spawn(
    "prometheus",
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      "--web.listen-address=127.0.0.1:0",
    ],
    { stdio: "ignore" },
  );
  const started = await new Promise<boolean>((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
  });
  if (!started) {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  return {
    cpu: () => cpuSeconds(child.pid!),
    stop() {
      child.once("exit", () => rmSync(folder, { recursive: true, force: true }));
      child.kill();
    },
  };
}
