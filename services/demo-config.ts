import { demoLedger } from "../demo/fleet/prices.ts";
import type { Config } from "../runtime/config/schema.ts";

/** Returns true if `up` starts the demo fleet: if it is enabled, and the configuration has nothing else to scrape or to watch. */
export function runsDemo({ collector, kubernetes, demo }: Pick<Config, "collector" | "kubernetes" | "demo">): boolean {
  const { jobs, remoteWrite } = collector;
  return demo.enabled && jobs.length === 0 && remoteWrite === undefined && kubernetes.clusters.length === 0;
}

/** The longest past of the demo, with a day for rows that expire early: two months and the days until the latest closing date. */
const RAW_DAYS = 92;

/**
 * Returns the configuration with the demo's prices, owners and policies if it has no prices of its own. Raw rows are kept for the demo's
 * past.
 */
export function withDemoLedger(config: Config): Config {
  const isPriced = config.prices !== undefined || config.pricesFile !== undefined;
  const store = { ...config.store, rawDays: Math.max(config.store.rawDays, RAW_DAYS) };
  return { ...config, ...(isPriced ? {} : demoLedger()), store };
}
