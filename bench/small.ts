import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pino from "pino";
import { startSystem, type System } from "../services/system.ts";
import { demoLedger } from "../demo/fleet/prices.ts";
import { parseConfig } from "../runtime/config/load.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { connectStore } from "../runtime/store/connection.ts";
import { cpuSeconds, ownMegabytes, pause } from "./process.ts";
import { report } from "./report.ts";

const PROGRAM = resolve("dist/cli/main.js");
const WARM_SECONDS = 90;
const SECONDS = 300;

/**
 * The small form of the Helm chart: `up` on embedded parts, in front of a cluster that it discovers, watches, meters and charges. The
 * demo's exporters and API server are that cluster, in a separate process on the same machine. Their CPU time is shown separately.
 */
export async function benchSmall(): Promise<void> {
  for (const gpus of [250, 500, 1_000]) await measure(gpus);
}

async function measure(gpus: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-small-"));
  const cluster = await startCluster(join(folder, "cluster"), gpus);
  const config = configOf(join(folder, "data"), cluster.kubeconfig);
  const logger = pino({ level: "error" }, pino.destination(2));
  const system = await startSystem({ config, version: "bench", logger });
  const store = connectStore(system.store, config);
  try {
    await pause(WARM_SECONDS * 1000);
    const before = { cpu: cpuOf(system), cluster: cpuSeconds(cluster.processId) };
    const looks: Look[] = [];
    for (let second = 0; second < SECONDS; second += 5) {
      await pause(5_000);
      looks.push(look(system));
    }
    const cpu = (cpuOf(system) - before.cpu) / SECONDS;
    const { lost, scrapes } = await scrapesOf(store);
    const { collector, processor } = system.status();
    report(`${gpus} GPUs, cores`, [cpu], "", { atMost: 1 });
    report(`${gpus} GPUs, memory at its highest`, [Math.max(...looks.map(({ memory }) => memory))], "MB", {});
    report(`${gpus} GPUs, freshness p99 (worst look)`, [Math.max(...looks.map(({ p99 }) => p99))], "s", { atMost: 10 });
    report(`${gpus} GPUs, scrapes lost`, [lost], "", { atMost: 0 });
    const besideIt = (cpuSeconds(cluster.processId) - before.cluster) / SECONDS;
    process.stdout.write(
      `    ${scrapes} scrapes of ${collector?.targets.up} targets stored, lag ${processor?.lagMessages}, ` +
        `${processor?.rollups.windows} windows published; beside it the cluster, ${besideIt.toFixed(2)} cores\n`,
    );
    for (const { table, rows, bytes } of await tablesOf(store)) {
      process.stdout.write(`    ${table}: ${rows} rows, ${(bytes / rows).toFixed(1)} bytes each after merges\n`);
    }
    process.stdout.write(`    bus: ${(bytesOf(join(config.data, "bus")) / scrapes).toFixed(0)} bytes a scrape\n`);
  } finally {
    await store.close();
    await system.stop();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function configOf(data: string, kubeconfig: string): Config {
  const text = JSON.stringify({
    data,
    log: { level: "error" },
    server: { listen: "127.0.0.1:0" },
    collector: { jobs: [{ name: "exporters", kubernetes: { kubeconfig } }] },
    kubernetes: { clusters: [{ kubeconfig }] },
  });
  return { ...parseConfig(text, { source: "bench", folder: data, env: {} }), ...demoLedger() };
}

interface Look {
  readonly p99: number;
  readonly memory: number;
}

/** Returns the current memory of the whole program, with this process, and the delay of its last rows. */
function look(system: System): Look {
  const { processor } = system.status();
  return {
    p99: processor?.freshnessSeconds?.p99 ?? Number.NaN,
    memory: processesOf(system).reduce((sum, id) => sum + ownMegabytes(id), 0),
  };
}

const cpuOf = (system: System): number => processesOf(system).reduce((sum, id) => sum + cpuSeconds(id), 0);

function processesOf(system: System): readonly number[] {
  return [process.pid, ...Object.values(system.status().processes).map(({ id }) => id!)];
}

/** Returns the number of scrapes in the store, and of missing numbers in their sequences. */
async function scrapesOf(store: StoreClient): Promise<{ readonly scrapes: number; readonly lost: number }> {
  const [found] = await store.query<{ scrapes: string; lost: string }>(
    `SELECT sum(got) AS scrapes, sum(expected - got) AS lost FROM (
       SELECT max(sequence) + 1 AS expected, uniqExact(sequence) AS got FROM scrapes GROUP BY target, collector, epoch)`,
  );
  return { scrapes: Number(found!.scrapes), lost: Number(found!.lost) };
}

/** The tables that grow with every GPU, merged. */
async function tablesOf(
  store: StoreClient,
): Promise<readonly { readonly table: string; readonly rows: number; readonly bytes: number }[]> {
  const tables = ["gpu_samples", "scrapes", "usage_hours", "charges"];
  for (const table of tables) await store.command(`OPTIMIZE TABLE ${table} FINAL`);
  const found = await store.query<{ table: string; rows: string; bytes: string }>(
    `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
     WHERE active AND database = currentDatabase() AND table IN (${tables.map((table) => `'${table}'`).join(", ")})
     GROUP BY table ORDER BY table`,
  );
  return found.map(({ table, rows, bytes }) => ({ table, rows: Number(rows), bytes: Number(bytes) }));
}

/** `gpu-ledger demo` without a history. */
async function startCluster(
  data: string,
  gpus: number,
): Promise<{ readonly kubeconfig: string; readonly processId: number; stop(): Promise<void> }> {
  const path = `${data}.json`;
  writeFileSync(path, JSON.stringify({ data, server: { listen: "127.0.0.1:0" }, demo: { gpus, history: "0s" } }));
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, "demo", "--config", path], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const kubeconfig = await new Promise<string>((resolve, reject) => {
    let log = "";
    child.stderr!.on("data", (chunk: Buffer) => {
      log += chunk.toString();
      const found = /"kubeconfig":"([^"]+)"/.exec(log)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`the demo's cluster ended:\n${log}`)));
  });
  return {
    kubeconfig,
    processId: child.pid!,
    async stop() {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill();
      await gone;
    },
  };
}

function bytesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * 512, 0);
}
