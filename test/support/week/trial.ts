import { ruleGroups } from "../../../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../../alerts/options.ts";
import type { Fleet } from "../../../demo/fleet/fleet.ts";
import { objectsAt } from "../../../demo/kubernetes/cluster/objects.ts";
import { readsOf } from "../rules/promql-names.ts";
import { createScrapes } from "./pages.ts";
import { createRecorder } from "./recorder.ts";
import { replay, type Firing } from "./replay.ts";
import { stateSamples } from "../../../demo/kubernetes/state-metrics.ts";
import { faultsBetween, reasonOf, type Fault } from "./truth.ts";
import { MINUTE_MILLIS } from "../../../domain/time.ts";

const STATE_TARGET = { job: "kube-state-metrics", instance: "kube-state-metrics:8080" };

/** An alert that fired, and its cause. */
export interface ExplainedFiring extends Firing {
  /** The cause in the demo's script; undefined where there is none. */
  readonly reason: string | undefined;
}

/** The result of a trial. */
export interface Trial {
  readonly firings: readonly ExplainedFiring[];
  /** The script's faults, and minutes from each to its alert; undefined where the alert did not fire. */
  readonly faults: readonly (Fault & { readonly minutes: number | undefined })[];
}

/**
 * Applies the rules to the demo's fleet for some hours, scraped and evaluated every minute by Prometheus' own engine, and compares the alerts with
 * the fleet's script.
 */
export async function tryOn(fleet: Fleet, fromMillis: number, hours: number, play = replay): Promise<Trial> {
  const steps = hours * 60;
  const groups = ruleGroups({ ...DEFAULT_ALERT_OPTIONS, intervalMillis: MINUTE_MILLIS });
  const read = new Set(groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => [...readsOf(expr).series])));
  const recorder = createRecorder();
  const scrapes = fleet.nodes.map((node) => createScrapes(node, recorder, (name) => read.has(name)));
  for (let step = 0; step < steps; step++) {
    const at = fromMillis + step * MINUTE_MILLIS;
    for (const scrape of scrapes) scrape(step, at);
    for (const [name, labels, value] of stateSamples(objectsAt(fleet, at))) {
      if (!read.has(name)) continue;
      // promtool's time begins at 0.
      const relative = name === "kube_pod_start_time" ? value - fromMillis / 1000 : value;
      recorder.add(recorder.key(name, { ...labels, ...STATE_TARGET }), step, relative);
    }
  }
  const fired = await play(groups, recorder.inputs(steps), { steps, stepSeconds: 60 });
  const timeOf = (step: number): number => fromMillis + step * MINUTE_MILLIS;
  const firings = fired.map((firing) => ({
    ...firing,
    reason: reasonOf(fleet, firing.alert, firing.labels, timeOf(firing.from)),
  }));
  const faults = faultsBetween(fleet, fromMillis, timeOf(steps)).map((fault) => {
    const alarm = fired.find(
      ({ alert, labels, from }) =>
        alert === fault.alert &&
        timeOf(from) >= fault.sinceMillis &&
        timeOf(from) <= fault.untilMillis + 5 * MINUTE_MILLIS &&
        Object.entries(fault.labels).every(([name, value]) => labels[name] === value),
    );
    const minutes = alarm === undefined ? undefined : (timeOf(alarm.from) - fault.sinceMillis) / MINUTE_MILLIS;
    return { ...fault, minutes };
  });
  return { firings, faults };
}

/** A table of a trial in Markdown, alert by alert. */
export function tableOf({ firings, faults }: Trial): string {
  const alerts = [...new Set([...firings, ...faults].map(({ alert }) => alert))].toSorted((a, b) => a.localeCompare(b));
  const rows = alerts.map((alert) => {
    const fired = firings.filter((each) => each.alert === alert);
    const reasons = [...new Set(fired.flatMap(({ reason }) => reason ?? []))].join("; ");
    const scripted = faults.filter((each) => each.alert === alert);
    const minutes = scripted.flatMap((each) => each.minutes ?? []);
    const mean = minutes.reduce((sum, each) => sum + each, 0) / minutes.length;
    const found = scripted.length === 0 ? "" : `${minutes.length} of ${scripted.length}`;
    const unexplained = fired.filter(({ reason }) => reason === undefined).length;
    return [alert, fired.length, reasons, unexplained, found, minutes.length === 0 ? "" : `${mean.toFixed(1)} min`];
  });
  const head = ["alert", "fired", "because", "without a reason", "scripted faults found", "mean time to the alert"];
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
