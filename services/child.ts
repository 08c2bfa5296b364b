import type { Logger } from "pino";
import { createLogger } from "../runtime/telemetry/log.ts";
import type { StatusServer } from "../runtime/http/status-server.ts";
import { repeat } from "../runtime/lifecycle/repeat.ts";
import { untilAsked } from "../runtime/lifecycle/stopping.ts";
import {
  ASK_METRICS,
  CHILD_GRACE_MILLIS,
  type ChildMetrics,
  type ChildOrder,
  type ChildReport,
} from "./child-messages.ts";
import type { Role } from "./role.ts";

const REPORT_MILLIS = 2000;

/** A running part, with what it serves itself. */
interface RunningPart {
  readonly role: Role<unknown>;
  readonly gpuMetrics?: StatusServer;
}

/**
 * The process of one part under `up`. It waits for its order over IPC, starts the part, reports every 2 s and answers requests for metrics.
 * It ends on request or when its parent is gone.
 */
async function main(): Promise<void> {
  const order = await new Promise<ChildOrder>((resolve) =>
    process.once("message", (message) => resolve(message as ChildOrder)),
  );
  const logger = createLogger(order.config.log.level, { part: order.role });
  const orphaned = untilOrphaned();
  let fail = (): void => {};
  const failed = new Promise<string>((resolve) => {
    fail = () => resolve("failed");
  });
  const { role, gpuMetrics } = await startRole(order, logger, fail);
  const report = async (): Promise<void> => {
    const state = { status: await role.status(), notReady: role.notReady() };
    send(gpuMetrics === undefined ? state : { ...state, gpuMetrics: gpuMetrics.url });
  };
  const reporting = repeat(REPORT_MILLIS, report, (error) =>
    logger.error({ err: error }, "the status cannot be reported"),
  );
  process.on("message", (message) => {
    if (message === ASK_METRICS) void role.registry.getMetricsAsJSON().then((metrics) => send({ metrics }));
  });
  // Ctrl-C reaches the whole process group. Only the parent decides when its parts end, and in which order.
  process.on("SIGINT", () => {});
  const why = await Promise.race([untilAsked(["SIGTERM"]), orphaned, failed]);
  await reporting.stop();
  await gpuMetrics?.stop();
  await role.stop();
  process.exit(why === "failed" ? 1 : 0);
}

/**
 * Resolves when the parent is gone. Nobody kills this process then, and its store and its bus may be gone too, so it exits by itself when it has
 * not ended in time.
 */
function untilOrphaned(): Promise<string> {
  return new Promise((resolve) => {
    const end = (): void => {
      setTimeout(() => process.exit(1), CHILD_GRACE_MILLIS);
      resolve("orphaned");
    };
    if (process.connected) process.once("disconnect", end);
    else end();
  });
}

/** Loads only the modules of the part, so that a killed part starts again sooner. */
async function startRole(order: ChildOrder, logger: Logger, onFatal: (error: unknown) => void): Promise<RunningPart> {
  switch (order.role) {
    case "collector": {
      const { startCollectorRole } = await import("./collector.ts");
      return { role: await startCollectorRole(order.config, { index: 0, count: 1 }, logger) };
    }
    case "processor": {
      const { startProcessorRole } = await import("./processor.ts");
      const role = await startProcessorRole(order.config, order.store, logger, onFatal);
      const { LOOPBACK, serveProcessor } = await import("./gpu-metrics.ts");
      const { createPortAccess } = await import("./port-access.ts");
      const server = { listen: LOOPBACK, metricsToken: order.secret, access: { tokens: [] } };
      const guard = createPortAccess("processor of up", server, { logger });
      return { role, gpuMetrics: await serveProcessor({ listen: LOOPBACK, guard }, role, () => role.status(), logger) };
    }
    case "demo": {
      const { startDemoRole } = await import("./demo.ts");
      return { role: await startDemoRole(order.config, logger, order.sinceMillis) };
    }
  }
}

function send(message: ChildReport | ChildMetrics): void {
  if (process.connected) process.send?.(message);
}

await main();
