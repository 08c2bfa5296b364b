import { alertmanagerParts, NOBODY } from "../../../alerts/alertmanager/configuration.ts";
import { ruleGroups } from "../../../alerts/generate.ts";
import type { Notify } from "../../../alerts/model.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../../alerts/options.ts";
import type { Fleet } from "../../../demo/fleet/fleet.ts";
import { objectsAt } from "../../../demo/kubernetes/cluster/objects.ts";
import type { InputSeries } from "../rules/case.ts";
import { readsOf } from "../rules/promql-names.ts";
import { notificationsOf, type Notification } from "./notifications.ts";
import { createScrapes } from "./pages.ts";
import { createRecorder } from "./recorder.ts";
import { replay, type Firing } from "./replay.ts";
import { stateSamples } from "../../../demo/kubernetes/state-metrics.ts";
import { faultsBetween, reasonOf, type Fault } from "./truth.ts";
import { xidClassOf } from "../../../domain/xid/xid.ts";
import { MINUTE_MILLIS } from "../../../domain/time.ts";

const STATE_TARGET = { job: "kube-state-metrics", instance: "kube-state-metrics:8080" };

/** An alert that fired, and its cause. */
export interface ExplainedFiring extends Firing {
  /** The cause in the demo's script; undefined where there is none. */
  readonly reason: string | undefined;
}

/** A fault of the script, and what a person gets to know about it. */
export interface FoundFault extends Fault {
  /** The minutes until its alert fired, 0 for an alert that still fired from the fault before; undefined where none fired. */
  readonly minutes: number | undefined;
  /** `sent` if a notification had the alert, `shown` if the alert is information, which is not sent; undefined if nobody could know. */
  readonly told: "sent" | "shown" | undefined;
}

/** The result of a trial. */
export interface Trial {
  readonly firings: readonly ExplainedFiring[];
  /** The notifications that the shipped routes send to people. */
  readonly notifications: readonly Notification[];
  readonly faults: readonly FoundFault[];
}

/** Without contacts, as shipped: the receivers do not change when a group is sent. */
const CONTACTS = { platform: {}, teams: {}, repeat: { page: "4h", ticket: "24h" } };

/**
 * Applies the rules to the demo's fleet for some hours, scraped and evaluated every minute by Prometheus' own engine, and compares the alerts with
 * the fleet's script.
 */
export async function tryOn(fleet: Fleet, fromMillis: number, hours: number, play = replay): Promise<Trial> {
  const steps = hours * 60;
  const groups = ruleGroups({ ...DEFAULT_ALERT_OPTIONS, intervalMillis: MINUTE_MILLIS });
  const read = new Set(groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => [...readsOf(expr).series])));
  const parts = partsOf(steps).map(async ({ from, until }): Promise<Part> => {
    const begin = Math.max(0, from - WARM_UP_STEPS);
    const of = { fromMillis: fromMillis + begin * MINUTE_MILLIS, steps: until - begin };
    const fired = await play(
      groups,
      inputsOf(fleet, of, (name) => read.has(name)),
      {
        steps: of.steps,
        stepSeconds: 60,
      },
    );
    const shifted = fired.map((firing) => ({ ...firing, from: begin + firing.from, to: begin + firing.to }));
    const own = shifted.filter(({ to }) => to >= from).map((each) => ({ ...each, from: Math.max(from, each.from) }));
    return { from, firings: own };
  });
  const fired = joined(await Promise.all(parts));
  const timeOf = (step: number): number => fromMillis + step * MINUTE_MILLIS;
  const firings = fired.map((firing) => ({
    ...firing,
    reason: reasonOf(fleet, firing.alert, firing.labels, timeOf(firing.from)),
  }));
  const routing = alertmanagerParts(DEFAULT_ALERT_OPTIONS, CONTACTS);
  const notifications = notificationsOf(fired, routing, 60).filter(({ receiver }) => receiver !== NOBODY);
  const faults = faultsBetween(fleet, fromMillis, timeOf(steps)).map((fault): FoundFault => {
    const alarm = fired.find(
      ({ alert, labels, from, to }) =>
        alert === fault.alert &&
        timeOf(to) >= fault.sinceMillis &&
        timeOf(from) <= fault.untilMillis + 5 * MINUTE_MILLIS &&
        Object.entries(fault.labels).every(([name, value]) => labels[name] === value),
    );
    if (alarm === undefined) return { ...fault, minutes: undefined, told: undefined };
    const isSent = notifications.some(({ firings: all }) => all.includes(alarm));
    return {
      ...fault,
      minutes: Math.max(0, timeOf(alarm.from) - fault.sinceMillis) / MINUTE_MILLIS,
      told: isSent ? "sent" : alarm.labels["notify"] === ("none" satisfies Notify) ? "shown" : undefined,
    };
  });
  return { firings, notifications, faults };
}

/** The steps before a part that are played with it: rules look back a day. */
const WARM_UP_STEPS = 30 * 60;
/** A longer time is played in two parts at once, because promtool uses one core. */
const MOST_STEPS_AT_ONCE = 2 * 24 * 60;

/** The firings from a step on, until the next part. */
interface Part {
  readonly from: number;
  readonly firings: readonly Firing[];
}

function partsOf(steps: number): readonly { readonly from: number; readonly until: number }[] {
  if (steps <= MOST_STEPS_AT_ONCE) return [{ from: 0, until: steps }];
  const middle = Math.ceil((steps + WARM_UP_STEPS) / 2);
  return [
    { from: 0, until: middle },
    { from: middle, until: steps },
  ];
}

/** Joins the firings of parts in order. A firing at the last step of a part goes on if the next part begins with it. */
function joined(parts: readonly Part[]): readonly Firing[] {
  const all: Firing[] = [];
  for (const { from, firings } of parts)
    for (const firing of firings) {
      const { alert, labels, to } = firing;
      const key = JSON.stringify([alert, labels]);
      const before = all.findIndex((each) => each.to === from - 1 && JSON.stringify([each.alert, each.labels]) === key);
      if (before < 0 || firing.from > from) all.push(firing);
      else all[before] = { ...all[before]!, to };
    }
  return all.toSorted((a, b) => a.from - b.from);
}

/** The series that a Prometheus would have of the fleet, minute by minute. */
function inputsOf(
  fleet: Fleet,
  { fromMillis, steps }: { readonly fromMillis: number; readonly steps: number },
  isRead: (name: string) => boolean,
): readonly InputSeries[] {
  const recorder = createRecorder();
  const scrapes = fleet.nodes.map((node) => createScrapes(node, recorder, isRead));
  for (let step = 0; step < steps; step++) {
    const at = fromMillis + step * MINUTE_MILLIS;
    for (const scrape of scrapes) scrape(step, at);
    for (const [name, labels, value] of stateSamples(objectsAt(fleet, at))) {
      if (!isRead(name)) continue;
      // promtool's time begins at 0.
      const relative = name === "kube_pod_start_time" ? value - fromMillis / 1000 : value;
      recorder.add(recorder.key(name, { ...labels, ...STATE_TARGET }), step, relative);
    }
  }
  return recorder.inputs(steps);
}

/** Returns true for an XID of a program, whose alert is information: the GPU has no fault. */
export function isOfProgram({ labels }: Fault): boolean {
  return xidClassOf(Number(labels["code"])) === "application";
}

/** A table of a trial in Markdown, alert by alert. A notification about several alerts counts for each of those that are new in it. */
export function tableOf({ firings, notifications, faults }: Trial): string {
  const alerts = [...new Set([...firings, ...faults].map(({ alert }) => alert))].toSorted((a, b) => a.localeCompare(b));
  const rows = alerts.map((alert) => {
    const fired = firings.filter((each) => each.alert === alert);
    const reasons = [...new Set(fired.flatMap(({ reason }) => reason ?? []))].join("; ");
    const sent = notifications.filter(({ gained }) => gained.some((each) => each.alert === alert)).length;
    const scripted = faults.filter((each) => each.alert === alert);
    const isOf = (told: FoundFault["told"]): number => scripted.filter((each) => each.told === told).length;
    const shown = isOf("shown") === 0 ? "" : `, ${isOf("shown")} shown`;
    const found = scripted.length === 0 ? "" : `${isOf("sent")} of ${scripted.length}${shown}`;
    const minutes = scripted.flatMap((each) => each.minutes ?? []);
    const mean = minutes.reduce((sum, each) => sum + each, 0) / minutes.length;
    const unexplained = fired.filter(({ reason }) => reason === undefined).length;
    const after = minutes.length === 0 ? "" : `${mean.toFixed(1)} min`;
    return [alert, fired.length, sent, reasons, unexplained, found, after];
  });
  const head = [
    "alert",
    "firings",
    "notifications",
    "because",
    "without a reason",
    "scripted faults in them",
    "mean time to the alert",
  ];
  const all = ["all", firings.length, notifications.length, "", "", "", ""];
  return [head, head.map(() => "---"), ...rows, all].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
