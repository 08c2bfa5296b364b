import { collectDefaultMetrics, type Registry } from "prom-client";

/** Of these the library keeps a histogram, for which a timer wakes the process a hundred times a second: half a percent of a core. */
const BY_TIMER = /^nodejs_eventloop_lag_(?:min|max|mean|stddev|p\d+)_seconds$/;
/** The timer cannot be left out. */
const RARELY_MILLIS = 3_600_000;

/**
 * Registers what a process tells of itself, `process_*` and `nodejs_*`: CPU, memory, files, garbage collection, and how long the
 * event loop kept a scrape waiting.
 */
export function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: RARELY_MILLIS });
  for (const { name } of registry.getMetricsAsArray()) if (BY_TIMER.test(name)) registry.removeSingleMetric(name);
}
