import { Registry } from "prom-client";
import { loadConfig } from "../../runtime/config/load.ts";
import { createLifecycle, untilAsked } from "../../runtime/lifecycle/stopping.ts";
import { connectStore, migrateStore, outsideStore } from "../../runtime/store/connection.ts";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { startStatusServer } from "../../runtime/http/status-server.ts";
import { registerProcessMetrics } from "../../runtime/telemetry/process-metrics.ts";
import { startTelemetry } from "../../runtime/telemetry/telemetry.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { startDeliveryWorker } from "../../services/delivery-worker.ts";
import { startPracticeMetrics } from "../../services/practices.ts";
import { openPortTls } from "../../services/port-tls.ts";
import { openReports } from "../../services/reports.ts";
import { withLedger } from "../../services/begun-ledger.ts";

/** The options of `gpu-ledger serve`. */
export interface ServeOptions {
  readonly config?: string;
}

/** Serves the API and the pages until a signal asks for the end. */
export async function runServe(options: ServeOptions, context: CommandContext): Promise<void> {
  const { config: given } = loadConfig(options.config, context.env);
  const address = outsideStore(given);
  if (address === undefined)
    throw new CommandError(
      "store.kind is embedded: `gpu-ledger up` serves that store. A separate server needs store.kind: clickhouse",
      2,
    );
  const logger = createLogger(given.log.level, { part: "server" });
  const lifecycle = createLifecycle(logger);
  const tls = await openPortTls("server", given.server);
  try {
    await migrateStore(address, given, logger);
    const store = connectStore(address, given);
    lifecycle.add("reader", { stop: () => store.close() });
    const config = await withLedger(given, store);
    const registry = new Registry();
    registerProcessMetrics(registry);
    lifecycle.add("telemetry", await startTelemetry(config, "gpu-ledger-server", registry));
    const isDemo = config.server.demo;
    const { guard, addRoutes } = await openReports(config, { store, version: context.version, isDemo, logger });
    const views = {
      status: () => Promise.resolve({ version: context.version, store: { url: address.url, kind: config.store.kind } }),
      metrics: () => registry.metrics(),
      notReady: () => [],
      guard,
      tls: tls && { ...tls, registry },
      registry,
    };
    const server = lifecycle.add("server", await startStatusServer(config.server, views, logger, addRoutes));
    lifecycle.add(
      "delivery worker",
      startDeliveryWorker(config, { store, version: context.version, logger, registry }),
    );
    lifecycle.add("practices", startPracticeMetrics(config, { store, logger, registry, now: Date.now }));
    logger.info({ address: server.url }, "serving");
    const signal = await untilAsked();
    logger.info({ signal }, "stopping");
  } finally {
    await lifecycle.stop();
  }
}
