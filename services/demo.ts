import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { demoAddress } from "../demo/address.ts";
import { createFleet } from "../demo/fleet/fleet.ts";
import { createClusterDriver } from "../demo/kubernetes/cluster/driver.ts";
import { objectsAt } from "../demo/kubernetes/cluster/objects.ts";
import { startApiServer } from "../demo/kubernetes/server/server.ts";
import { stateMetricsPage } from "../demo/kubernetes/state-metrics.ts";
import { startHistory } from "../demo/history/history.ts";
import { startExporterServers } from "../demo/servers.ts";
import { startEngineServers } from "../demo/serving/servers.ts";
import { openBus } from "../runtime/bus/open.ts";
import { topicDeclarations } from "../runtime/bus/topics.ts";
import type { Config } from "../runtime/config/schema.ts";
import { createLifecycle } from "../runtime/lifecycle/stopping.ts";
import { projectionOf } from "./projection.ts";
import type { DemoStatus, Role } from "./role.ts";
import { makePrivateFolder } from "../runtime/private-folder.ts";

/** The number of GPUs whose objects can be checked in a second without a noticeable load. */
const GPUS_PER_SECOND = 1_000;

/** The running demo fleet. */
export interface DemoRole extends Role<DemoStatus> {
  /** Returns the current page of the cluster's kube-state-metrics, in Prometheus' text format. */
  stateMetrics(): string;
}

/** Returns the path of the kubeconfig of the demo's cluster. */
export function demoKubeconfig(config: Config): string {
  return join(config.data, "demo-kubeconfig.json");
}

/**
 * Starts the demo fleet's exporters, its inference engines and the API server of its cluster. They serve already while the fleet's history is
 * sent over the bus. From `sinceMillis` on, an older past follows it.
 */
export async function startDemoRole(config: Config, logger: Logger, sinceMillis?: number): Promise<DemoRole> {
  const lifecycle = createLifecycle(logger);
  const { gpus, seed, listen } = config.demo;
  const address = demoAddress(listen);
  // The live scrapes are of the configured cluster. The history must be of the same one.
  const fleet = createFleet({ seed, gpus, cluster: config.cluster });
  try {
    const servers = lifecycle.add("exporters", await startExporterServers(fleet, Date.now, address));
    const engines = lifecycle.add("engines", await startEngineServers(fleet, Date.now, address));
    makePrivateFolder(config.data);
    const apiServer = lifecycle.add("API server", await startApiServer({ address }));
    const driver = createClusterDriver(fleet, apiServer, Date.now, {
      exporters: servers.targets,
      engines,
      stepMillis: Math.max(1000, (gpus / GPUS_PER_SECOND) * 1000),
    });
    driver.start();
    lifecycle.add("cluster", { stop: () => Promise.resolve(driver.stop()) });
    await writeFile(demoKubeconfig(config), kubeconfigOf(apiServer.url), { mode: 0o600 });
    const bus = await openBus(config, logger);
    lifecycle.add("bus", { stop: () => bus.close() });
    await bus.declare(topicDeclarations(config.bus));
    const history = await startHistory({
      fleet,
      historyMillis: config.demo.history,
      ...(sinceMillis === undefined ? {} : { sinceMillis }),
      bus,
      path: join(config.data, "demo-history.json"),
      projection: projectionOf(config),
      now: Date.now,
      logger,
    });
    lifecycle.add("history", history);
    return {
      registry: new Registry(),
      status: () => Promise.resolve({ targets: servers.targets, gpus, history: history.progress() }),
      notReady: () => undefined,
      stateMetrics: () => stateMetricsPage(objectsAt(fleet, Date.now())),
      stop: () => lifecycle.stop(),
    };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/**
 * Returns a kubeconfig with one context. JSON is valid YAML. The Kubernetes client accepts a server without TLS only if certificate checks
 * are turned off.
 */
function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "demo", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "demo", user: {} }],
    contexts: [{ name: "demo", context: { cluster: "demo", user: "demo" } }],
    "current-context": "demo",
  });
}
