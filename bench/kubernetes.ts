import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pino from "pino";
import { Registry, type Counter, type Gauge } from "prom-client";
import { startWatchers, type Watchers } from "../services/watchers.ts";
import { openEmbeddedBus } from "../runtime/bus/embedded/embedded-bus.ts";
import { topicDeclarations } from "../runtime/bus/topics.ts";
import { systemClock } from "../runtime/clock.ts";
import { parseConfig } from "../runtime/config/load.ts";
import { createMetrics, type Metrics } from "../runtime/telemetry/metrics.ts";
import { cpuSeconds, ownMegabytes, pause } from "./process.ts";
import { report } from "./report.ts";

const PODS = 50_000;
const NODES = 5_000;
const EVENTS_PER_SECOND = 2_000;
const WATCH_SECONDS = 30;

/**
 * A cluster of 50,000 pods (9 kB each, 40 % with a GPU, four per Job) and 5,000 nodes in a separate process: the
 * collector's watcher is elected, lists, reads the Jobs of GPU pods, and sends every fact to the embedded bus, then follows 2,000
 * changes per second.
 */
export async function benchKubernetes(): Promise<void> {
  const server = await startServer();
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-kubernetes-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigOf(server.url));
  const config = parseConfig(
    JSON.stringify({ data: folder, kubernetes: { clusters: [{ name: "bench", kubeconfig }] } }),
    {
      source: "bench",
      folder,
      env: {},
    },
  );
  const logger = pino({ level: "error" }, pino.destination(2));
  const bus = await openEmbeddedBus({ folder: join(folder, "bus"), clock: systemClock, logger });
  await bus.declare(topicDeclarations(config.bus));
  const metrics = createMetrics(new Registry());
  let megabytes = 0;
  const looking = setInterval(() => (megabytes = Math.max(megabytes, ownMegabytes(process.pid))), 100);

  const started = performance.now();
  const watchers = startWatchers({ config, shard: { index: 0, count: 1 }, bus, metrics, logger });
  while (!(await isListed(watchers, metrics))) await pause(20);
  report(
    `${PODS} pods and ${NODES} nodes: from the election to all messages on the bus`,
    [(performance.now() - started) / 1000],
    "s",
    { atMost: 15 },
  );
  report("maximum of private memory", [megabytes], "MB", { atMost: 350 });
  process.stdout.write(`    ${await sumOf(metrics.factsSent)} facts\n`);

  server.change(EVENTS_PER_SECOND);
  await pause(5_000);
  const [events, cpu] = [await sumOf(metrics.kubernetesEvents), cpuSeconds(process.pid)];
  await pause(WATCH_SECONDS * 1000);
  const followed = (await sumOf(metrics.kubernetesEvents)) - events;
  watchers.sample();
  report("followed part of the changes", [followed / (EVENTS_PER_SECOND * WATCH_SECONDS)], "", { atLeast: 0.98 });
  report("CPU time for the changes", [(cpuSeconds(process.pid) - cpu) / WATCH_SECONDS], "of a core", { atMost: 1 });
  report("facts that wait for the bus after the changes", [await sumOf(metrics.factsWaiting)], "", {
    atMost: EVENTS_PER_SECOND,
  });
  report("maximum of private memory, with changes", [megabytes], "MB", { atMost: 350 });

  clearInterval(looking);
  await watchers.stop();
  await bus.close();
  server.stop();
  rmSync(folder, { recursive: true });
}

/** Returns true if every pod has been listed, and every fact is on the bus. */
async function isListed(watchers: Watchers, metrics: Metrics): Promise<boolean> {
  watchers.sample();
  const { values } = await metrics.kubernetesLists.get();
  const listed = values.some(({ labels }) => labels["resource"] === "pods");
  return listed && (await sumOf(metrics.factsWaiting)) === 0;
}

async function sumOf(metric: Counter | Gauge): Promise<number> {
  const { values } = await metric.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    clusters: [{ name: "bench", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "bench", user: {} }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
    "current-context": "bench",
  });
}

async function startServer(): Promise<{ readonly url: string; change(perSecond: number): void; stop(): void }> {
  const program = fileURLToPath(new URL("api-server.js", import.meta.url));
  const child = spawn(process.execPath, [program, String(PODS), String(NODES)], { stdio: ["pipe", "pipe", "inherit"] });
  const line = await new Promise<string>((resolve) =>
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString())),
  );
  const { url } = JSON.parse(line) as { url: string };
  return { url, change: (perSecond) => void child.stdin.write(String(perSecond)), stop: () => void child.kill() };
}
