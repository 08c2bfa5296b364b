import type { Logger } from "pino";
import { Registry } from "prom-client";
import type { Config } from "../../runtime/config/schema.ts";
import type { DemoStatus, Role } from "./role.ts";

/** Starts the demo fleet's exporters, and sends its history. */
export function startDemoRole(_config: Config, _logger: Logger): Promise<Role<DemoStatus>> {
  return Promise.resolve({
    registry: new Registry(),
    status: () => Promise.resolve({ targets: [], gpus: 0, history: { sent: 0, total: 0 } }),
    notReady: () => undefined,
    stop: () => Promise.resolve(),
  });
}
