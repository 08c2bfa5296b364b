import { lackingAlerts, type LackingAlert } from "../alerts/exporter/lacking.ts";
import type { TargetState } from "../collectors/exporters/collector.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";

/** So many targets of a job that lack the same are named; more are counted together, or a fleet would fill the page. */
const MOST_NAMED = 20;

/** What the metric needs of a target. */
export type SeenTarget = Pick<TargetState, "job" | "url" | "gpus" | "columns">;

/**
 * Sets which alerts can't work for which targets, and the counter that each of those lacks, from the pages that were read last.
 */
export function createLackingCounters(
  metrics: Pick<Metrics, "alertsLacking">,
): (targets: readonly SeenTarget[]) => void {
  const known = new WeakMap<readonly string[], readonly LackingAlert[]>();

  function lackingOf(columns: readonly string[]): readonly LackingAlert[] {
    let lacking = known.get(columns);
    if (lacking === undefined) known.set(columns, (lacking = lackingAlerts(new Set(columns))));
    return lacking;
  }

  return (targets) => {
    const lacking = new Map<string, { readonly job: string; readonly of: LackingAlert; readonly urls: string[] }>();
    for (const { job, url, gpus, columns } of targets) {
      if (gpus === 0) continue;
      for (const of of lackingOf(columns)) {
        const key = JSON.stringify([job, of.alert, of.counter]);
        const entry = lacking.get(key);
        if (entry === undefined) lacking.set(key, { job, of, urls: [url] });
        else entry.urls.push(url);
      }
    }
    metrics.alertsLacking.reset();
    for (const { job, of, urls } of lacking.values()) {
      const labels = { scrape_job: job, ...of };
      if (urls.length > MOST_NAMED) metrics.alertsLacking.set({ ...labels, target: "" }, urls.length);
      else for (const target of urls) metrics.alertsLacking.set({ ...labels, target }, 1);
    }
  };
}
