import type { Logger } from "pino";
import { createMonth, withoutForecast, type MonthToDate } from "../processors/ledger/charging/month.ts";
import { repeat, type Repeated } from "../runtime/lifecycle/repeat.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";

const REFRESH_MILLIS = 15_000;

/** Shows the month to date while this processor leads, as a view and as metrics by team. Charges are read again after possible changes. */
export function startMonth(options: {
  readonly store: StoreClient;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
  /** The billing policy's name. */
  readonly policy: string;
  readonly isLeading: () => boolean;
  /** True if too many hours wait to be charged for a forecast. */
  readonly isBehind: () => boolean;
  /** True if metrics contain the month too. */
  readonly onMetrics: boolean;
}): Repeated & {
  view(): MonthToDate | undefined;
  /** Called when the books may have changed since the last reading. */
  changed(): void;
} {
  const { store, metrics, logger, now, policy, isLeading, isBehind, onMetrics } = options;
  const month = createMonth(store, policy);
  let seen: MonthToDate | undefined;
  let isStale = true;

  function view(): MonthToDate | undefined {
    return seen !== undefined && isBehind() ? withoutForecast(seen) : seen;
  }

  async function read(): Promise<MonthToDate> {
    const known = isStale ? undefined : month.known(now());
    if (known !== undefined) return known;
    isStale = false;
    try {
      return await month.refresh(now());
    } catch (error) {
      isStale = true;
      throw error;
    }
  }

  async function refresh(): Promise<void> {
    seen = isLeading() ? await read() : undefined;
    if (onMetrics) show(metrics, view());
  }

  return {
    view,
    changed: () => void (isStale = true),
    ...repeat(REFRESH_MILLIS, refresh, (error) =>
      logger.debug({ err: error }, "the month to date cannot be read; it is tried again"),
    ),
  };
}

/** Sets numbers for panels. No money is computed from them. */
function show(metrics: Metrics, month: MonthToDate | undefined): void {
  metrics.teamMonthCost.reset();
  metrics.teamBurnRate.reset();
  metrics.teamForecast.reset();
  for (const { team, cost, perHour, forecast } of month?.teams ?? []) {
    metrics.teamMonthCost.set({ team }, Number(cost));
    metrics.teamBurnRate.set({ team }, Number(perHour));
    if (forecast !== null) metrics.teamForecast.set({ team }, Number(forecast));
  }
}
