import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { startHistory } from "../../demo/history/history.ts";
import { startExporterServers } from "../../demo/servers.ts";
import { openBus } from "../../runtime/bus/open.ts";
import { topicDeclarations } from "../../runtime/bus/topics.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { createLifecycle } from "../../runtime/lifecycle/stopping.ts";
import type { DemoStatus, Role } from "./role.ts";

/** Starts the demo fleet's exporters, and sends the fleet's history over the bus while they already serve. */
export async function startDemoRole(config: Config, logger: Logger): Promise<Role<DemoStatus>> {
  const lifecycle = createLifecycle(logger);
  const { gpus, seed } = config.demo;
  // The live scrapes are of the configured cluster: the past must be of the same one.
  const fleet = createFleet({ seed, gpus, cluster: config.cluster });
  try {
    const servers = lifecycle.add("exporters", await startExporterServers(fleet, Date.now));
    await mkdir(config.data, { recursive: true });
    const bus = await openBus(config, logger);
    lifecycle.add("bus", { stop: () => bus.close() });
    await bus.declare(topicDeclarations(config.bus));
    const history = await startHistory({
      fleet,
      historyMillis: config.demo.history,
      bus,
      path: join(config.data, "demo-history.json"),
      now: Date.now,
      logger,
    });
    lifecycle.add("history", history);
    return {
      registry: new Registry(),
      status: () => Promise.resolve({ targets: servers.targets, gpus, history: history.progress() }),
      notReady: () => undefined,
      stop: () => lifecycle.stop(),
    };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}
