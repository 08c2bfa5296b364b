import type { Logger } from "pino";
import { approximate, rational } from "../domain/exact/rational.ts";
import { LAST_UNITS_IN_ONE } from "../domain/exact/units.ts";
import type { SplitRule } from "../domain/serving/split-rule.ts";
import { readLastHour } from "../reports/serving/last-hour.ts";
import { repeat, type Repeated } from "../runtime/lifecycle/repeat.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";

const REFRESH_MILLIS = 60_000;
const MILLION = 1_000_000n;

type ServingMetrics = Pick<
  Metrics,
  | "servingCostPerHour"
  | "servingCostPerMillionTokens"
  | "servingIdleRatio"
  | "servingEngines"
  | "servingIdleEngines"
  | "servingWaiting"
>;

/** Shows the services of the last ended hour as metrics while this processor leads. */
export function startServingMetrics(options: {
  readonly store: Pick<StoreClient, "query">;
  readonly metrics: ServingMetrics;
  readonly logger: Logger;
  readonly now: () => number;
  /** The billing policy, and the rule of reports. */
  readonly policy: string;
  readonly rule: SplitRule;
  /** True if metrics contain money too. */
  readonly hasMoney: boolean;
  readonly isLeading: () => boolean;
}): Repeated {
  const { store, metrics, logger, now, policy, rule, hasMoney, isLeading } = options;

  async function refresh(): Promise<void> {
    const { models, workloads } = isLeading() ? await readLastHour(store, { policy, rule, now: now() }) : NOTHING;
    resetServingMetrics(metrics);
    // The leadership may have ended during the query.
    if (!isLeading()) return;
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

  return repeat(REFRESH_MILLIS, refresh, (error) =>
    logger.debug({ err: error }, "services cannot be read for the metrics; it is tried again"),
  );
}

const NOTHING = { models: [], workloads: [] };

/** Removes the series of services: another processor leads. */
export function resetServingMetrics(metrics: ServingMetrics): void {
  metrics.servingCostPerHour.reset();
  metrics.servingCostPerMillionTokens.reset();
  metrics.servingIdleRatio.reset();
  metrics.servingEngines.reset();
  metrics.servingIdleEngines.reset();
  metrics.servingWaiting.reset();
}
