import { hash, uuidOf } from "../../fleet/hash.ts";
import type { FleetNode } from "../../fleet/node.ts";
import { DAY, HOUR, MINUTE, SECOND } from "./times.ts";

/** A time in which a spot node is taken away and given back as another machine under the same name. */
export interface Outage {
  readonly index: number;
  /** The time of the notice: pods are asked to end. */
  readonly fromMillis: number;
  readonly nodeGoneMillis: number;
  readonly nodeBackMillis: number;
  readonly nodeReadyMillis: number;
  /** The time when the exporter answers again and the new pods run. */
  readonly untilMillis: number;
}

/**
 * Returns the outage of a node in the hour of a time. A spot node whose exporter is away for ten minutes of each hour is really gone in one
 * of them each day. The exporters serve nothing then that Kubernetes could contradict.
 */
function outageIn(node: FleetNode, timeMillis: number): Outage | undefined {
  if (!isReclaimed(node)) return undefined;
  const index = Math.floor((timeMillis - node.collectPhaseMillis) / HOUR);
  if (hash(node.key, Math.floor(index / 24), 71) % 24 !== ((index % 24) + 24) % 24) return undefined;
  const fromMillis = index * HOUR + node.collectPhaseMillis + 25 * MINUTE;
  const untilMillis = fromMillis + 10 * MINUTE;
  return {
    index,
    fromMillis,
    nodeGoneMillis: fromMillis + 2 * MINUTE,
    nodeBackMillis: untilMillis - 3 * MINUTE,
    nodeReadyMillis: untilMillis - 2 * MINUTE,
    untilMillis,
  };
}

/** Returns the outages of a node that begin in a time, oldest first. */
export function outagesBetween(node: FleetNode, fromMillis: number, untilMillis: number): Outage[] {
  if (!isReclaimed(node)) return [];
  const outages: Outage[] = [];
  for (let at = fromMillis; at < untilMillis + HOUR; at += HOUR) {
    const outage = outageIn(node, at);
    if (outage !== undefined && outage.fromMillis >= fromMillis && outage.fromMillis < untilMillis)
      outages.push(outage);
  }
  return outages;
}

function isReclaimed({ capacityType, troubles }: FleetNode): boolean {
  return capacityType === "spot" && troubles.has("exporter-away");
}

/** The machine under a node's name. */
export interface Machine {
  readonly uid: string;
  readonly joinedMillis: number;
  /** True if its kubelet reports it as ready. */
  readonly isReady: boolean;
  /** The time since when its removal is known. */
  readonly leavingSinceMillis?: number;
}

/** Returns the machine under a node's name at a time; `undefined` while there is none. */
export function machineAt(node: FleetNode, timeMillis: number): Machine | undefined {
  const last = outagesBetween(node, timeMillis - 3 * DAY, timeMillis + SECOND).at(-1);
  if (last === undefined) {
    return { uid: node.uid, joinedMillis: firstJoined(node), isReady: true };
  }
  if (timeMillis >= last.nodeBackMillis) {
    const isReady = timeMillis >= last.nodeReadyMillis;
    return { uid: uuidOf(node.key, last.index), joinedMillis: last.nodeBackMillis, isReady };
  }
  if (timeMillis >= last.nodeGoneMillis) return undefined;
  const former = machineAt(node, last.fromMillis - SECOND);
  return former === undefined ? undefined : { ...former, leavingSinceMillis: last.fromMillis };
}

/** Returns a time before everything that the demo shows. */
function firstJoined(node: FleetNode): number {
  return Date.UTC(2024, 2, 4, 7) + (hash(node.key, 72) % 80) * DAY;
}
