import { loadConfig } from "../../runtime/config/load.ts";
import { createLifecycle, untilAsked } from "../../runtime/lifecycle/stopping.ts";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { startStatusServer } from "../../runtime/http/status-server.ts";
import type { CommandContext } from "../context.ts";
import { demoKubeconfig, startDemoRole } from "../../services/demo.ts";
import { createPortAccess } from "../../services/port-access.ts";
import { openPortTls } from "../../services/port-tls.ts";

/** The options of `gpu-ledger demo`. */
export interface DemoOptions {
  readonly config?: string;
}

/** Runs the demo fleet until a signal asks for the end. */
export async function runDemo(options: DemoOptions, context: CommandContext): Promise<void> {
  const { config } = loadConfig(options.config, context.env);
  const logger = createLogger(config.log.level, { part: "demo" });
  const lifecycle = createLifecycle(logger);
  const tls = await openPortTls("demo", config.server);
  try {
    const role = lifecycle.add("demo", await startDemoRole(config, logger));
    const { targets } = await role.status();
    const views = {
      status: async () => ({ version: context.version, demo: await role.status() }),
      metrics: () => role.registry.metrics(),
      notReady: () => [],
      demoTargets: () => targets,
      guard: createPortAccess("demo", config.server, { logger }),
      tls: tls && { ...tls, registry: role.registry },
      registry: role.registry,
    };
    const server = lifecycle.add(
      "server",
      await startStatusServer(config.server, views, logger, (routes) => {
        routes.get("/api/demo/kube-state-metrics", (_, reply) =>
          reply.type("text/plain; version=0.0.4; charset=utf-8").send(role.stateMetrics()),
        );
      }),
    );
    logger.info(
      { address: server.url, exporters: targets.length, kubeconfig: demoKubeconfig(config) },
      "a demo fleet runs",
    );
    const signal = await untilAsked();
    logger.info({ signal }, "stopping");
  } finally {
    await lifecycle.stop();
  }
}
