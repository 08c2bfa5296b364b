import { collectDefaultMetrics, type Registry } from "prom-client";
import { HOUR_MILLIS } from "../../domain/time.ts";

/**
 * Metrics for which the library keeps a histogram. Its timer wakes the process 100 times a second, which costs half a percent of a core.
 */
const BY_TIMER = /^nodejs_eventloop_lag_(?:min|max|mean|stddev|p\d+)_seconds$/;
/** The timer cannot be left out, so its interval is long. */
const RARELY_MILLIS = HOUR_MILLIS;

/**
 * Registers the metrics of a process, `process_*` and `nodejs_*`: CPU, memory, files, garbage collection, and the delay of a scrape by the
 * event loop.
 */
export function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: RARELY_MILLIS });
  for (const { name } of registry.getMetricsAsArray()) if (BY_TIMER.test(name)) registry.removeSingleMetric(name);
}
