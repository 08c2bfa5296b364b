import { lackingAlerts, type LackingAlert } from "../alerts/exporter/lacking.ts";
import type { TargetState } from "../collectors/exporters/collector-model.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";

/**
 * The limit of named targets of a job with the same missing counter. Others are counted together, so that a fleet does not fill the page.
 */
const MOST_NAMED = 20;

/** The properties of a target that the metric needs. */
export type SeenTarget = Pick<TargetState, "job" | "url" | "gpus" | "columns">;

/** Sets, from the last pages, the alerts that cannot work for each target, and the counter that is missing. */
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
