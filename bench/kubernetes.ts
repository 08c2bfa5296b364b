import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pino from "pino";
import { Registry, type Counter, type Gauge } from "prom-client";
import { openEmbeddedBus } from "../runtime/bus/embedded/embedded-bus.ts";
import { topicDeclarations } from "../runtime/bus/topics.ts";
import { systemClock } from "../runtime/clock.ts";
import { parseConfig } from "../runtime/config/load.ts";
import { createMetrics, type Metrics } from "../runtime/telemetry/metrics.ts";
import { startWatchers, type Watchers } from "../services/watchers.ts";
import { kubeconfigOf } from "../test/support/kubeconfig.ts";
import { defineBench, report, type Kit } from "./frame.ts";
import { cpuSeconds, ownMegabytes, secondsOf, withMost } from "./measure.ts";
import { startProgram } from "./parts.ts";

const MOST_MEGABYTES = { atMost: 350 };

/**
 * A cluster of pods (9 kB each, 40 % with a GPU, four per Job) and nodes in a separate process: the collector's watcher is elected, lists,
 * reads the Jobs of GPU pods, and sends every fact to the embedded bus, then follows changes.
 */
export const kubernetes = defineBench({
  name: "kubernetes",
  about: "a cluster of pods, listed and watched",
  options: { pods: 50_000, nodes: 5_000, changes: 2_000, seconds: 30 },
  async run({ pods, nodes, changes, seconds }, kit) {
    const { child, ready } = await startProgram<{ readonly url: string }>(kit, "api-server.js", [pods, nodes]);
    const { watchers, metrics } = await start(kit, ready.url);
    const own = (): number => ownMegabytes(process.pid);
    const untilListed = async (): Promise<void> => {
      while (!(await isListed(watchers, metrics))) await pause(20);
    };
    const listing = await withMost(own, () => secondsOf(untilListed));
    report(`${pods} pods and ${nodes} nodes listed, all messages on the bus`, listing.result, "s", { atMost: 15 });
    report("  maximum of private memory", listing.most, "MB", MOST_MEGABYTES);
    report("  facts", await sumOf(metrics.factsSent));

    child.stdin!.write(String(changes));
    await pause(5_000);
    const [events, cpu] = [await sumOf(metrics.kubernetesEvents), cpuSeconds(process.pid)];
    const { most } = await withMost(own, () => pause(seconds * 1000));
    const followed = (await sumOf(metrics.kubernetesEvents)) - events;
    watchers.sample();
    report(`${changes} changes a second: followed part`, followed / (changes * seconds), "", { atLeast: 0.98 });
    report("  CPU time", (cpuSeconds(process.pid) - cpu) / seconds, "of a core", { atMost: 1 });
    report("  facts that wait for the bus", await sumOf(metrics.factsWaiting), "", { atMost: changes });
    report("  maximum of private memory", Math.max(listing.most, most), "MB", MOST_MEGABYTES);
  },
});

async function start(kit: Kit, url: string): Promise<{ readonly watchers: Watchers; readonly metrics: Metrics }> {
  const folder = kit.folder();
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigOf({ bench: { url } }));
  const text = JSON.stringify({ data: folder, kubernetes: { clusters: [{ name: "bench", kubeconfig }] } });
  const config = parseConfig(text, { source: "bench", folder, env: {} });
  const logger = pino({ level: "error" }, pino.destination(2));
  const bus = await openEmbeddedBus({ folder: join(folder, "bus"), clock: systemClock, logger });
  kit.atEnd(() => bus.close());
  await bus.declare(topicDeclarations(config.bus));
  const metrics = createMetrics(new Registry());
  const watchers = startWatchers({ config, shard: { index: 0, count: 1 }, bus, metrics, logger });
  kit.atEnd(() => watchers.stop());
  return { watchers, metrics };
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
