import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { LAST_UNITS_IN_ONE } from "../domain/exact/units.ts";
import { CHECKS } from "../domain/practice/checks.ts";
import { MINUTE_MILLIS } from "../domain/time.ts";
import { QUERY_LIMITS } from "../reports/access/query-limits.ts";
import { OPEN } from "../reports/access/viewer.ts";
import { readPracticeSpends, readPractices } from "../reports/read/practices.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";
import { repeat, type Repeated } from "../runtime/lifecycle/repeat.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { createServerMetrics } from "../runtime/telemetry/metrics.ts";

/** The interval of the checks. Facts change within seconds, but an alert about a practice has hours. */
const EVERY_MILLIS = 5 * MINUTE_MILLIS;

/** Checks the practices repeatedly beside the reports' server of this process, and sets the gauges. */
export function startPracticeMetrics(
  config: Config,
  of: { readonly store: StoreClient; readonly logger: Logger; readonly registry: Registry; readonly now: () => number },
): Repeated {
  const { store, logger, registry, now } = of;
  const { practices, server } = config;
  const metrics = createServerMetrics(registry);
  const ledger = ledgerOf(config);
  const stopping = new AbortController();
  const bounded = store.bounded({ caller: "practices", settings: QUERY_LIMITS, signal: stopping.signal });
  const checks = CHECKS.filter(({ name }) => !practices.off.includes(name));

  async function look(): Promise<void> {
    const at = now();
    const spends = await readPracticeSpends(bounded, ledger, OPEN, { now: at, days: practices.days });
    const findings = await readPractices(bounded, { ledger, practices, viewer: OPEN, now: at, spends });
    for (const { name: check, severity, amount } of checks) {
      const own = findings.filter((finding) => finding.check === check);
      metrics.practiceFindings.set(
        { check, severity },
        own.reduce((sum, { count }) => sum + count, 0),
      );
      if (!server.moneyOnMetrics || amount === undefined) continue;
      const atStake = own.reduce((sum, finding) => sum + (finding.atStake ?? 0n), 0n);
      metrics.practiceCost.set({ check }, Number(atStake) / Number(LAST_UNITS_IN_ONE));
    }
  }

  const repeated = repeat(EVERY_MILLIS, look, (error) => {
    if (!stopping.signal.aborted) logger.warn({ err: error }, "the practices cannot be checked for the metrics");
  });
  return {
    async stop() {
      stopping.abort();
      await repeated.stop();
    },
  };
}
