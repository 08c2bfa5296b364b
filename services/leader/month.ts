import { createMonth, withoutForecast, type MonthToDate } from "../../processors/ledger/charging/month.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { LeaderJob } from "./jobs.ts";
import type { Metrics } from "../../runtime/telemetry/metrics.ts";

const REFRESH_MILLIS = 15_000;

/** Shows the month to date, as a view and as metrics by team. Charges are read again after possible changes. */
export function monthJob(options: {
  readonly store: StoreClient;
  readonly metrics: Metrics;
  readonly now: () => number;
  /** The billing policy's name. */
  readonly policy: string;
  /** True if too many hours wait to be charged for a forecast. */
  readonly isBehind: () => boolean;
  /** True if metrics contain the month too. */
  readonly onMetrics: boolean;
}): LeaderJob & {
  view(): MonthToDate | undefined;
  /** Called when the books may have changed since the last reading. */
  changed(): void;
} {
  const { store, metrics, now, policy, isBehind, onMetrics } = options;
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

  function show(month: MonthToDate | undefined): void {
    seen = month;
    if (onMetrics) setGauges(metrics, view());
  }

  return {
    name: "month to date",
    everyMillis: REFRESH_MILLIS,
    work: async () => show(await read()),
    clear: () => show(undefined),
    view,
    changed: () => void (isStale = true),
  };
}

/** Sets numbers for panels. No money is computed from them. */
function setGauges(metrics: Metrics, month: MonthToDate | undefined): void {
  metrics.teamMonthCost.reset();
  metrics.teamBurnRate.reset();
  metrics.teamForecast.reset();
  for (const { team, cost, perHour, forecast } of month?.teams ?? []) {
    metrics.teamMonthCost.set({ team }, Number(cost));
    metrics.teamBurnRate.set({ team }, Number(perHour));
    if (forecast !== null) metrics.teamForecast.set({ team }, Number(forecast));
  }
}
