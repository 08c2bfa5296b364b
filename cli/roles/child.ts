import type { Logger } from "pino";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { untilAsked } from "../../runtime/lifecycle/stopping.ts";
import { ASK_METRICS, type ChildMetrics, type ChildOrder, type ChildReport } from "./child-messages.ts";
import type { Role } from "./role.ts";

const REPORT_MILLIS = 2000;

/**
 * The process of one part under `up`: waits for its order over IPC, starts the part, reports every other second and gives
 * its metrics when asked, and ends when it is asked to or when its parent is gone.
 */
async function main(): Promise<void> {
  const order = await new Promise<ChildOrder>((resolve) =>
    process.once("message", (message) => resolve(message as ChildOrder)),
  );
  const logger = createLogger(order.config.log.level, { part: order.role });
  const orphaned = new Promise<string>((resolve) => process.once("disconnect", () => resolve("orphaned")));
  let fail = (): void => {};
  const failed = new Promise<string>((resolve) => {
    fail = () => resolve("failed");
  });
  const role = await startRole(order, logger, fail);
  void report(role);
  const timer = setInterval(() => void report(role), REPORT_MILLIS);
  process.on("message", (message) => {
    if (message === ASK_METRICS) void role.registry.getMetricsAsJSON().then((metrics) => say({ metrics }));
  });
  // Ctrl-C reaches the whole process group; the parent alone decides when its parts end, and in which order.
  process.on("SIGINT", () => {});
  const why = await Promise.race([untilAsked(["SIGTERM"]), orphaned, failed]);
  clearInterval(timer);
  await role.stop();
  process.exit(why === "failed" ? 1 : 0);
}

/** Loads what the part is made of and nothing else: a part that was killed is back the sooner. */
async function startRole(order: ChildOrder, logger: Logger, onFatal: (error: unknown) => void): Promise<Role<unknown>> {
  switch (order.role) {
    case "collector": {
      const { startCollectorRole } = await import("./collector.ts");
      return await startCollectorRole(order.config, { index: 0, count: 1 }, logger);
    }
    case "processor": {
      const { startProcessorRole } = await import("./processor.ts");
      return await startProcessorRole(order.config, order.store, logger, onFatal);
    }
    case "demo": {
      const { startDemoRole } = await import("./demo.ts");
      return await startDemoRole(order.config, logger);
    }
  }
}

async function report(role: Role<unknown>): Promise<void> {
  say({ status: await role.status(), notReady: role.notReady() });
}

function say(message: ChildReport | ChildMetrics): void {
  if (process.connected) process.send?.(message);
}

await main();
