import type { Logger } from "pino";
import { createMonth, type MonthToDate } from "../../processors/charges/month.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Metrics } from "../../runtime/telemetry/metrics.ts";

const REFRESH_MILLIS = 15_000;

/** The month to date, refreshed while this processor leads, as a view and as metrics by team. */
export function startMonth(options: {
  readonly store: StoreClient;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
  /** The billing policy's name. */
  readonly policy: string;
  readonly isLeading: () => boolean;
  /** Whether metrics tell it too. */
  readonly onMetrics: boolean;
}): { view(): MonthToDate | undefined; stop(): Promise<void> } {
  const { store, metrics, logger, now, policy, isLeading, onMetrics } = options;
  const month = createMonth(store, policy);
  let seen: MonthToDate | undefined;
  let running: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    try {
      seen = isLeading() ? await month.refresh(now()) : undefined;
      if (onMetrics) show(metrics, seen);
    } catch (error) {
      logger.debug({ err: error }, "the month to date cannot be read; it is tried again");
    }
  }

  const timer = setInterval(() => {
    running ??= refresh().finally(() => (running = undefined));
  }, REFRESH_MILLIS);
  return {
    view: () => seen,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** As numbers for panels: no money is computed from them. */
function show(metrics: Metrics, month: MonthToDate | undefined): void {
  metrics.teamMonthCost.reset();
  metrics.teamBurnRate.reset();
  metrics.teamForecast.reset();
  for (const { team, cost, perHour, forecast } of month?.teams ?? []) {
    metrics.teamMonthCost.set({ team }, Number(cost));
    metrics.teamBurnRate.set({ team }, Number(perHour));
    metrics.teamForecast.set({ team }, Number(forecast));
  }
}
