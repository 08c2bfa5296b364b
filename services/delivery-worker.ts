import { hostname, tmpdir } from "node:os";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createDeliveryWorker, type DeliveryWorker } from "../reports/delivery/worker.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { createServerMetrics } from "../runtime/telemetry/metrics.ts";

/** Starts the scheduled deliveries of the configuration, beside the reports' server of this process. */
export function startDeliveryWorker(
  config: Config,
  of: {
    readonly store: StoreClient;
    readonly version: string;
    readonly logger: Logger;
    /** The registry of its metrics. */
    readonly registry: Registry;
  },
): DeliveryWorker {
  const { registry, ...parts } = of;
  const metrics = createServerMetrics(registry);
  const worker = createDeliveryWorker({
    ...parts,
    deliveries: config.deliveries,
    ledger: ledgerOf(config),
    focus: config.focus,
    now: Date.now,
    who: `${hostname()}/${process.pid}`,
    folder: tmpdir(),
    env: process.env,
    onOutcome: (outcome) => metrics.deliveryAttempts.inc({ outcome }),
    onLook: (late) => metrics.deliveriesLate.set(late),
  });
  worker.start();
  return worker;
}
