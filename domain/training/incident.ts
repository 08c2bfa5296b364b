import { MINUTE_MILLIS } from "../time.ts";
import { sumAmounts, type RunAmounts } from "./bill.ts";
import type { RunPhase } from "./phases.ts";
import type { RunReport, StopCost } from "./report.ts";
import { mainSignal, unavailableSignal, type NodeSignal } from "./signals.ts";

/** Signals of one node with at most this time between them are one incident. */
const INCIDENT_GAP_MILLIS = 10 * MINUTE_MILLIS;

/** GPUs that could not be used: the sum of the charges in state unavailable of a GPU, a time and a reason. */
export interface BlockedCharge {
  readonly cluster: string;
  readonly node: string;
  /** The index of the GPU; undefined for a line of the whole node. */
  readonly gpu: number | undefined;
  readonly because: string;
  /** Milliseconds since the epoch, half-open. */
  readonly from: number;
  readonly until: number;
  readonly amounts: RunAmounts;
}

/** A stop of a run that an incident caused. */
export interface AffectedRun {
  readonly report: Pick<RunReport, "run">;
  readonly cost: StopCost;
}

/** The parts of the cost of an incident. */
export type IncidentPart = "blocked" | Extract<RunPhase, "waiting" | "recovering" | "lost" | "lost-estimated">;

/** The parts of the cost of an incident, in the order of reports. */
export const INCIDENT_PARTS = ["blocked", "waiting", "recovering", "lost", "lost-estimated"] as const;

/** Signals of a node in a short time, with everything that they cost. */
export interface Incident {
  readonly cluster: string;
  readonly node: string;
  /** The time of the first signal, milliseconds since the epoch. */
  readonly at: number;
  /** The signal that names the incident. */
  readonly main: NodeSignal;
  /** In order of time. */
  readonly signals: readonly NodeSignal[];
  readonly affected: readonly AffectedRun[];
  /** All parts; they do not overlap. */
  readonly parts: Readonly<Record<IncidentPart, RunAmounts>>;
  readonly total: RunAmounts;
}

interface Group {
  readonly cluster: string;
  readonly node: string;
  readonly signals: NodeSignal[];
  readonly affected: AffectedRun[];
  readonly blocked: BlockedCharge[];
  blockedUntil: number;
}

/**
 * Returns the incidents of faults and stops, in order of time. A stop belongs to the incident of its fault. Without a fault, the stop is a
 * signal itself, on the node of the pod that ended first. Blocked charges belong to the latest incident of their node before them, of the
 * same GPU if there is one, as long as they follow without a gap. Each charge and each stop is counted once.
 */
export function incidentsOf(
  faults: readonly NodeSignal[],
  affected: readonly AffectedRun[],
  blocked: readonly BlockedCharge[],
): readonly Incident[] {
  const known = new Set(faults.map(timeKeyOf));
  const causes = affected.map(causeOf);
  const groups = grouped([...faults, ...causes.filter((cause) => !known.has(timeKeyOf(cause)))]);
  const ofNode = (of: Pick<NodeSignal, "cluster" | "node">): readonly Group[] => groups.get(keyOf(of)) ?? [];
  affected.forEach((one, index) => {
    const cause = causes[index]!;
    ofNode(cause)
      .findLast(({ signals }) => signals[0]!.at <= cause.at)!
      .affected.push(one);
  });
  for (const charge of blocked.toSorted((a, b) => a.from - b.from)) {
    const open = ofNode(charge).filter(
      ({ signals, blockedUntil }) =>
        signals[0]!.at - INCIDENT_GAP_MILLIS <= charge.from && charge.from <= blockedUntil + INCIDENT_GAP_MILLIS,
    );
    const group = open.findLast(({ signals }) => signals.some(({ gpu }) => gpu === charge.gpu)) ?? open.at(-1);
    if (group === undefined) continue;
    group.blocked.push(charge);
    group.blockedUntil = Math.max(group.blockedUntil, charge.until);
  }
  return [...groups.values()]
    .flat()
    .map(incidentOf)
    .toSorted((a, b) => a.at - b.at || (a.node < b.node ? -1 : 1));
}

/** Returns the cause of a stop as a signal: its fault, otherwise the end of the pod that ended first. */
function causeOf({ report, cost: { stop } }: AffectedRun): NodeSignal {
  if (stop.fault !== undefined) return stop.fault;
  const { cluster } = report.run;
  return { cluster, node: stop.pod.node, at: stop.at, kind: stop.cause, code: "", gpu: undefined, isBlocking: false };
}

function timeKeyOf({ cluster, node, at }: NodeSignal): string {
  return JSON.stringify([cluster, node, at]);
}

function keyOf({ cluster, node }: Pick<Group, "cluster" | "node">): string {
  return JSON.stringify([cluster, node]);
}

/** Groups signals by node and time. The groups of a node are in order of time. */
function grouped(signals: readonly NodeSignal[]): ReadonlyMap<string, readonly Group[]> {
  const groups = new Map<string, Group[]>();
  for (const signal of signals.toSorted((a, b) => a.at - b.at)) {
    const { cluster, node, at } = signal;
    const ofNode = groups.get(keyOf(signal)) ?? [];
    groups.set(keyOf(signal), ofNode);
    const last = ofNode.at(-1);
    if (last !== undefined && at - last.signals.at(-1)!.at <= INCIDENT_GAP_MILLIS) {
      last.signals.push(signal);
      last.blockedUntil = Math.max(last.blockedUntil, at);
    } else ofNode.push({ cluster, node, signals: [signal], affected: [], blocked: [], blockedUntil: at });
  }
  return groups;
}

function incidentOf({ cluster, node, signals, affected, blocked }: Group): Incident {
  const partOf = (phase: RunPhase): RunAmounts =>
    sumAmounts(affected.flatMap(({ cost }) => cost.phases.get(phase) ?? []));
  const parts = {
    blocked: sumAmounts(blocked.map(({ amounts }) => amounts)),
    waiting: partOf("waiting"),
    recovering: partOf("recovering"),
    lost: partOf("lost"),
    "lost-estimated": partOf("lost-estimated"),
  };
  const total = sumAmounts(Object.values(parts));
  return {
    cluster,
    node,
    at: signals[0]!.at,
    main: mainSignal(signals),
    signals: distinct(signals),
    affected,
    parts,
    total,
  };
}

/** Returns the first signal of each kind, code and GPU. */
function distinct(signals: readonly NodeSignal[]): readonly NodeSignal[] {
  const first = new Map<string, NodeSignal>();
  for (const signal of signals) {
    const key = JSON.stringify([signal.kind, signal.code, signal.gpu]);
    if (!first.has(key)) first.set(key, signal);
  }
  return [...first.values()];
}

/** Returns the signals of GPUs that become unavailable: one for each time without a gap. `since` leaves out times that began before. */
export function signalsOfBlocked(blocked: readonly BlockedCharge[], since: number): readonly NodeSignal[] {
  const ends = new Map<string, number>();
  return blocked
    .toSorted((a, b) => a.from - b.from)
    .flatMap(({ cluster, node, gpu, because, from, until }): readonly NodeSignal[] => {
      const key = JSON.stringify([cluster, node, gpu, because]);
      const end = ends.get(key) ?? -Infinity;
      ends.set(key, Math.max(end, until));
      if (from <= end || from < since) return [];
      return [unavailableSignal({ cluster, node, at: from }, gpu, because) ?? []].flat();
    });
}

/** Incidents with a value in common, and the mean time between their starts. */
export interface IncidentGroup {
  readonly key: string;
  readonly incidents: number;
  /** The time from the first to the last start, divided by their number less one; undefined for one incident. */
  readonly meanMillisBetween: number | undefined;
  readonly total: RunAmounts;
}

/** Groups incidents by a value, the highest cost first. */
export function incidentGroups<Of extends Incident>(
  incidents: readonly Of[],
  keyOfIncident: (incident: Of) => string,
): readonly IncidentGroup[] {
  const byKey = new Map<string, Of[]>();
  for (const incident of incidents) {
    const key = keyOfIncident(incident);
    byKey.set(key, [...(byKey.get(key) ?? []), incident]);
  }
  const groups = [...byKey].map(([key, own]): IncidentGroup => {
    const times = own.map(({ at }) => at).sort((a, b) => a - b);
    const span = times.at(-1)! - times[0]!;
    return {
      key,
      incidents: own.length,
      meanMillisBetween: own.length === 1 ? undefined : Math.round(span / (own.length - 1)),
      total: sumAmounts(own.map(({ total }) => total)),
    };
  });
  return groups.toSorted((a, b) => Number(b.total.effective - a.total.effective) || b.incidents - a.incidents);
}
