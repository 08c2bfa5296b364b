import type { Route } from "../../../alerts/alertmanager/configuration.ts";
import type { Inhibition } from "../../../alerts/alertmanager/inhibitions.ts";
import type { Firing } from "./replay.ts";
import type { Labels } from "./recorder.ts";

/** A notification: a group of alerts that starts to fire, or that gains an alert. */
export interface Notification {
  /** The second after the beginning at which it is sent. */
  readonly atSecond: number;
  readonly receiver: string;
  /** All alerts of the group that fire then and are not suppressed. */
  readonly firings: readonly Firing[];
  /** Those that no earlier notification of the group had. */
  readonly gained: readonly Firing[];
}

/** The parts of an Alertmanager configuration that decide about notifications. */
export interface Routing {
  readonly route: Route;
  readonly inhibit_rules: readonly Inhibition[];
}

/** The settings of a route after those of its parents. */
interface Settings {
  readonly key: string;
  readonly receiver: string;
  readonly groupBy: readonly string[];
  readonly waitSeconds: number;
  readonly intervalSeconds: number;
}

/**
 * Returns the notifications that an Alertmanager sends for some firings, oldest first. Repeats and the ends of alerts are not among them. It
 * follows Alertmanager 0.28's `dispatch` (a group is looked at `group_wait` after its first alert, and then at each `group_interval` until
 * it is empty) and `notify.DedupStage` (a notification is due if the last one of the group lacks an alert that fires now).
 */
export function notificationsOf(
  firings: readonly Firing[],
  { route, inhibit_rules }: Routing,
  stepSeconds: number,
): readonly Notification[] {
  const timed = firings.map((firing): Timed => ({
    firing,
    labels: { alertname: firing.alert, ...firing.labels },
    from: firing.from * stepSeconds,
    until: (firing.to + 1) * stepSeconds,
  }));
  const isSuppressed = suppressionsOf(timed, inhibit_rules);
  const groups = new Map<string, { settings: Settings; alerts: Timed[] }>();
  for (const alert of timed) {
    const settings = settingsOf(route, alert.labels);
    if (settings === undefined) continue;
    const key = JSON.stringify([settings.key, ...settings.groupBy.map((label) => alert.labels[label] ?? "")]);
    const group = groups.get(key) ?? { settings, alerts: [] };
    group.alerts.push(alert);
    groups.set(key, group);
  }
  return [...groups.values()]
    .flatMap(({ settings, alerts }) => ofGroup(settings, alerts, isSuppressed))
    .toSorted((a, b) => a.atSecond - b.atSecond);
}

interface Timed {
  readonly firing: Firing;
  readonly labels: Labels;
  readonly from: number;
  readonly until: number;
}

type IsSuppressed = (alert: Timed, second: number) => boolean;

function ofGroup(settings: Settings, alerts: readonly Timed[], isSuppressed: IsSuppressed): Notification[] {
  const { receiver, waitSeconds, intervalSeconds } = settings;
  const waiting = alerts.toSorted((a, b) => a.from - b.from);
  const held = new Set<Timed>();
  const sent: Notification[] = [];
  let lastNames = new Set<string>();
  let second = Number.NaN;
  while (waiting.length > 0 || held.size > 0) {
    second = held.size === 0 ? waiting[0]!.from + waitSeconds : second + intervalSeconds;
    while (waiting.length > 0 && waiting[0]!.from <= second) held.add(waiting.shift()!);
    const shown = [...held].filter((alert) => !isSuppressed(alert, second));
    const firing = shown.filter(({ until }) => until > second);
    const hasEnded = shown.length > firing.length;
    const gained = firing.filter(({ labels }) => !lastNames.has(JSON.stringify(labels)));
    if (gained.length > 0)
      sent.push({
        atSecond: second,
        receiver,
        firings: firing.map((each) => each.firing),
        gained: gained.map((each) => each.firing),
      });
    // A message about ends has the alerts that still fire: an alert that comes back later is new.
    if (gained.length > 0 || hasEnded) lastNames = new Set(firing.map(({ labels }) => JSON.stringify(labels)));
    for (const alert of held) if (alert.until <= second) held.delete(alert);
  }
  return sent;
}

/** Returns the settings of the route that an alert takes; undefined if it takes none. */
function settingsOf(route: Route, labels: Labels, key = "", parent?: Settings): Settings | undefined {
  if (!areMatched(route.matchers, labels)) return undefined;
  const own: Settings = {
    key,
    receiver: route.receiver ?? parent!.receiver,
    groupBy: route.group_by ?? parent!.groupBy,
    waitSeconds: secondsOf(route.group_wait) ?? parent!.waitSeconds,
    intervalSeconds: secondsOf(route.group_interval) ?? parent!.intervalSeconds,
  };
  for (const [index, each] of (route.routes ?? []).entries()) {
    const taken = settingsOf(each, labels, `${key}/${index}`, own);
    if (taken !== undefined) return taken;
  }
  return own;
}

/** Returns whether an alert is suppressed at a second because a source of an inhibition fires. An alert does not suppress itself. */
function suppressionsOf(alerts: readonly Timed[], rules: readonly Inhibition[]): IsSuppressed {
  const prepared = rules.map(({ source_matchers, target_matchers, equal }) => {
    const sources = new Map<string, Timed[]>();
    const keyOf = (labels: Labels): string => JSON.stringify(equal.map((label) => labels[label] ?? ""));
    for (const alert of alerts) {
      if (!areMatched(source_matchers, alert.labels)) continue;
      const key = keyOf(alert.labels);
      sources.set(key, [...(sources.get(key) ?? []), alert]);
    }
    const isBoth = (labels: Labels): boolean =>
      areMatched(source_matchers, labels) && areMatched(target_matchers, labels);
    return { target_matchers, sources, keyOf, isBoth };
  });
  return ({ labels }, second) =>
    prepared.some(
      ({ target_matchers, sources, keyOf, isBoth }) =>
        areMatched(target_matchers, labels) &&
        (sources.get(keyOf(labels)) ?? []).some(
          (source) => source.from <= second && source.until > second && !(isBoth(labels) && isBoth(source.labels)),
        ),
    );
}

const MATCHERS = new Map<string, (labels: Labels) => boolean>();

function areMatched(matchers: readonly string[] | undefined, labels: Labels): boolean {
  return (matchers ?? []).every((matcher) => {
    const known = MATCHERS.get(matcher) ?? compiled(matcher);
    MATCHERS.set(matcher, known);
    return known(labels);
  });
}

function compiled(matcher: string): (labels: Labels) => boolean {
  const [, name, operator, quoted] = /^(\w+)(=~|!~|!=|=)(".*")$/s.exec(matcher)!;
  const value = JSON.parse(quoted!) as string;
  const pattern = new RegExp(`^(?:${value})$`);
  const isEqual = (text: string): boolean => (operator!.endsWith("~") ? pattern.test(text) : text === value);
  return (labels) => isEqual(labels[name!] ?? "") !== operator!.startsWith("!");
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function secondsOf(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : Number(duration.slice(0, -1)) * UNIT_SECONDS[duration.at(-1)!]!;
}
