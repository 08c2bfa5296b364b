import { approximate, rational } from "../../domain/exact/rational.ts";
import { LAST_UNITS_IN_ONE } from "../../domain/exact/units.ts";
import type { SplitRule } from "../../domain/serving/split-rule.ts";
import { readLastHour } from "../../reports/serving/last-hour.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { LeaderJob } from "./jobs.ts";
import type { Metrics } from "../../runtime/telemetry/metrics.ts";

const REFRESH_MILLIS = 60_000;
const MILLION = 1_000_000n;

/** Shows the services of the last ended hour as metrics. */
export function servingMetricsJob(options: {
  readonly store: Pick<StoreClient, "query">;
  readonly metrics: Metrics;
  readonly now: () => number;
  /** The billing policy, and the rule of reports. */
  readonly policy: string;
  readonly rule: SplitRule;
  /** True if metrics contain money too. */
  readonly hasMoney: boolean;
}): LeaderJob {
  const { store, metrics, now, policy, rule, hasMoney } = options;
  const gauges = [
    metrics.servingCostPerHour,
    metrics.servingCostPerMillionTokens,
    metrics.servingIdleRatio,
    metrics.servingEngines,
    metrics.servingIdleEngines,
    metrics.servingWaiting,
  ];
  const clear = (): void => gauges.forEach((gauge) => gauge.reset());

  async function work(): Promise<void> {
    const { models, workloads } = await readLastHour(store, { policy, rule, now: now() });
    clear();
    for (const { engines, idleEngines, idleRatio, waiting, ...labels } of workloads) {
      metrics.servingEngines.set(labels, engines);
      metrics.servingIdleEngines.set(labels, idleEngines);
      metrics.servingWaiting.set(labels, waiting);
      if (idleRatio !== null) metrics.servingIdleRatio.set(labels, idleRatio);
    }
    if (!hasMoney) return;
    for (const { cost, busyCost, tokens, ...labels } of models) {
      // Numbers for panels and alerts. No money is computed from them.
      metrics.servingCostPerHour.set(labels, approximate(rational(cost, LAST_UNITS_IN_ONE)));
      if (tokens <= 0n) continue;
      const perMillion = (amount: bigint): number =>
        approximate(rational(amount * MILLION, tokens * LAST_UNITS_IN_ONE));
      metrics.servingCostPerMillionTokens.set({ ...labels, cost: "loaded" }, perMillion(cost));
      metrics.servingCostPerMillionTokens.set({ ...labels, cost: "busy" }, perMillion(busyCost));
    }
  }

  return { name: "metrics of services", everyMillis: REFRESH_MILLIS, work, clear };
}
