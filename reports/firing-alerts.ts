import { maySeeTeam, seesAll, type Viewer } from "./access/viewer.ts";

/** An alert that fires. Names and labels are those of its rule. */
export interface FiringAlert {
  readonly name: string;
  readonly severity: string;
  readonly summary: string;
  readonly runbook: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Since when its expression holds, milliseconds since the epoch. */
  readonly since: number;
}

/** The firing alerts; `away` if Prometheus has not answered. */
export type AlertsNow = readonly FiringAlert[] | "away";

/** Returns the firing alerts that a viewer may see; undefined if no Prometheus is configured. */
export type ReadAlerts = () => Promise<AlertsNow | undefined>;

/** Returns the part of the alerts that a viewer may see: for a viewer of some teams, the alerts with their team. */
export function alertsSeenBy(viewer: Viewer, alerts: AlertsNow | undefined): AlertsNow | undefined {
  if (alerts === undefined || alerts === "away" || seesAll(viewer)) return alerts;
  return alerts.filter(({ labels }) => labels["team"] !== undefined && maySeeTeam(viewer, labels["team"]));
}

/** Returns the alerts of a subject: each of the given labels is equal, as far as the alert has it, and at least one is. Empty texts do not count. */
export function alertsOf(
  alerts: readonly FiringAlert[],
  subject: Readonly<Record<string, string>>,
): readonly FiringAlert[] {
  const wanted = Object.entries(subject).filter(([, value]) => value !== "");
  return alerts.filter(({ labels }) => {
    const shared = wanted.filter(([name]) => labels[name] !== undefined && name !== "cluster");
    return shared.length > 0 && wanted.every(([name, value]) => labels[name] === undefined || labels[name] === value);
  });
}
