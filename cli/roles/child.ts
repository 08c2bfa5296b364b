import type { Logger } from "pino";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { untilAsked } from "../../runtime/lifecycle/stopping.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreAddress } from "../../runtime/store/connection.ts";
import { startCollectorRole } from "./collector.ts";
import { startDemoRole } from "./demo.ts";
import { startProcessorRole } from "./processor.ts";
import type { Role } from "./role.ts";

/** What `up` tells a child before anything else. */
export type ChildOrder =
  | { readonly role: "collector" | "demo"; readonly config: Config }
  | { readonly role: "processor"; readonly config: Config; readonly store: StoreAddress };

/** What a child reports, once a second. */
export interface ChildReport {
  readonly status: unknown;
  readonly metrics: unknown;
  readonly notReady: string | undefined;
}

const REPORT_MILLIS = 1000;

/**
 * The process of one part under `up`: waits for its order over IPC, starts the part, reports once a second, and ends
 * when it is asked to or when its parent is gone.
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
  const timer = setInterval(() => void report(role), REPORT_MILLIS);
  // Ctrl-C reaches the whole process group; the parent alone decides when its parts end, and in which order.
  process.on("SIGINT", () => {});
  const why = await Promise.race([untilAsked(["SIGTERM"]), orphaned, failed]);
  clearInterval(timer);
  await role.stop();
  process.exit(why === "failed" ? 1 : 0);
}

function startRole(order: ChildOrder, logger: Logger, onFatal: (error: unknown) => void): Promise<Role<unknown>> {
  switch (order.role) {
    case "collector":
      return startCollectorRole(order.config, { index: 0, count: 1 }, logger);
    case "processor":
      return startProcessorRole(order.config, order.store, logger, onFatal);
    case "demo":
      return startDemoRole(order.config, logger);
  }
}

async function report(role: Role<unknown>): Promise<void> {
  const report: ChildReport = {
    status: await role.status(),
    metrics: await role.registry.getMetricsAsJSON(),
    notReady: role.notReady(),
  };
  if (process.connected) process.send?.(report);
}

await main();
