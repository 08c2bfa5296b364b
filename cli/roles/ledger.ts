import type { Logger } from "pino";
import { startLeadership } from "../../processors/leader.ts";
import { makeRollups, ROLLUP_TIMING, type RollupEvents } from "../../processors/rollup-work.ts";
import { SCHEDULE_TIMING } from "../../processors/rollup/schedule.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Metrics } from "../../runtime/telemetry/metrics.ts";
import type { ProcessorStatus } from "./role.ts";

/** A processor's part in the ledger, whether it leads or not. */
export interface Ledger {
  status(): Pick<ProcessorStatus, "leader" | "rollups">;
  /** Ends the work under way and leaves the leadership to another one. */
  stop(): Promise<void>;
}

/** Takes part in the leadership, and makes the rollups while it leads. Failures are counted, and tried again. */
export async function startLedger(options: {
  readonly bus: Bus;
  readonly store: StoreClient;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
}): Promise<Ledger> {
  const { bus, store, metrics, logger, now } = options;
  const totals = { windows: 0, lastSeconds: undefined as number | undefined, dirty: 0 };
  metrics.leader.set(0);

  const rollups: RollupEvents = {
    onRun({ cluster, windowStart, seconds, rows }) {
      totals.windows += 1;
      totals.lastSeconds = seconds;
      metrics.runs.inc({ kind: "rollup" });
      metrics.runSeconds.observe({ kind: "rollup" }, seconds);
      logger.debug({ cluster, window: new Date(windowStart).toISOString(), seconds, rows }, "a window was published");
    },
    onLooked({ dirty, settledUntilMillis }) {
      totals.dirty = dirty;
      metrics.windowsDirty.set(dirty);
      metrics.settledSeconds.set((settledUntilMillis ?? 0) / 1000);
    },
    onDropped: (runs) => metrics.runsDropped.inc(runs),
    onError(error, window) {
      metrics.runErrors.inc();
      logger.warn({ err: error, ...window }, "making rollups failed; it is tried again");
    },
  };
  const timing = { ...SCHEDULE_TIMING, ...ROLLUP_TIMING };
  const leadership = await startLeadership({
    bus,
    store,
    now,
    events: {
      onElected(generation) {
        metrics.leader.set(1);
        logger.info({ generation }, "this processor leads");
      },
      onDeposed(generation) {
        totals.dirty = 0;
        metrics.leader.set(0);
        metrics.windowsDirty.set(0);
        metrics.settledSeconds.set(0);
        logger.info({ generation }, "this processor leads no longer");
      },
      onUnknownRequest: ({ offset, schemaVersion }) =>
        logger.warn({ offset, schemaVersion }, "a request on gpu.ledger is unknown to this release; it is passed over"),
      onError(error) {
        metrics.runErrors.inc();
        logger.warn({ err: error }, "leading failed; it is tried again");
      },
    },
    lead: (term) => makeRollups({ bus, store, now, events: rollups, timing }, term),
  });

  return {
    status: () => ({
      leader: leadership.generation === undefined ? undefined : { generation: leadership.generation },
      rollups: { ...totals },
    }),
    stop: () => leadership.stop(),
  };
}
