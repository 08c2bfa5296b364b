import { addHours, countHours, hasHour, hasHours, haveCommonHour, removeHours, type HourSet } from "./hour-set.ts";
import { HOUR_MILLIS } from "../../time.ts";
import { nodeKind, type NodeTime } from "./node-time.ts";
import { addSlotHours, hoursOf, type SlotHours } from "./slot-hours.ts";

/** The nodes of a cluster that can leave, because other nodes have room for all that they held. */
export interface Packing {
  /** The names, in the order in which the nodes were emptied. */
  readonly leaving: readonly string[];
  /** The number of pods that would have been on other nodes. */
  readonly pods: number;
  /** The names of the leaving nodes, and of those that would have had their pods. */
  readonly nodes: readonly string[];
  /**
   * Returns true for an hour of a GPU that leaves the fleet: an hour of a leaving node without a holder, or a free hour of another node that a
   * moved pod takes. The hours of moved pods stay in the place of these: GPUs of one kind cost the same.
   */
  readonly leaves: (node: string, slot: number, hour: number) => boolean;
}

/** The hours of the GPUs of a pod, or of pods that used one GPU in the same hour, so that they move together. */
type Unit = SlotHours;

/** A GPU of another node, with the hours in which it takes a GPU's place. */
interface Place {
  readonly node: string;
  readonly slot: number;
  readonly hours: HourSet;
}

/** Nodes of which at most `most` should leave. */
export interface Wanted {
  readonly candidates: readonly NodeTime[];
  readonly most: number;
}

/**
 * Returns candidates that can leave: each was there in all of these hours, and each of its pods has room on one other node of the
 * same kind for all of its time, beside what that node held. The candidate with the least held time comes first. A pod goes to the node with the least free time that has room. A node that
 * takes pods does not leave, so that no pod moves twice. Nodes that nobody held take none: they can leave as they are. The same nodes give the
 * same result in any order.
 *
 * @param nodes All nodes of the cluster that can have pods of others.
 * @param of.wanted In the order in which nodes leave.
 * @param of.hours The hours for which the cluster has usage.
 */
export function packNodes(
  nodes: readonly NodeTime[],
  { wanted, hours }: { readonly wanted: readonly Wanted[]; readonly hours: HourSet },
): Packing {
  const hoursOfUsage = countHours(hours);
  const receivers = receiversByKind(nodes);
  const leaving = new Map<string, SlotHours>();
  const taken = new Map<string, Map<number, HourSet>>();
  let pods = 0;

  /** Returns the places of a unit on one other node that has room for it; undefined if there is none. */
  function placesFor(candidate: NodeTime, unit: Unit): readonly Place[] | undefined {
    for (const receiver of receivers.get(nodeKind(candidate)) ?? []) {
      if (receiver === candidate || leaving.has(nameOf(receiver))) continue;
      const places = placesOn(receiver, unit, taken.get(nameOf(receiver)));
      if (places !== undefined) return places;
    }
    return undefined;
  }

  /** Places all units of a node on other nodes. Returns false, and places none, if one has no room. */
  function empties(candidate: NodeTime): boolean {
    const placed: Place[] = [];
    for (const unit of unitsOf(candidate)) {
      const places = placesFor(candidate, unit);
      if (places === undefined) {
        for (const place of placed) removeHours(taken.get(place.node)!.get(place.slot)!, place.hours);
        return false;
      }
      for (const place of places) {
        const ofNode = taken.get(place.node) ?? new Map<number, HourSet>();
        taken.set(place.node, ofNode);
        addHours(hoursOf(ofNode, place.slot, hours), place.hours);
        placed.push(place);
      }
    }
    return true;
  }

  for (const { candidates, most } of wanted) {
    const leave = leaving.size + most;
    for (const candidate of candidates.toSorted(byHeld)) {
      if (leaving.size >= leave) break;
      const node = nameOf(candidate);
      if (leaving.has(node) || !canLeave(candidate, hoursOfUsage) || takesPods(taken.get(node))) continue;
      if (!empties(candidate)) continue;
      const held = new Map<number, HourSet>();
      for (const ofPod of candidate.pods.values()) addSlotHours(held, ofPod);
      leaving.set(node, held);
      pods += candidate.pods.size;
    }
  }
  return {
    leaving: [...leaving.keys()],
    pods,
    nodes: [...leaving.keys(), ...[...taken.keys()].filter((node) => takesPods(taken.get(node)))],
    leaves(node, slot, hour) {
      const held = leaving.get(node);
      const hours = (held ?? taken.get(node))?.get(slot);
      const isIn = hours !== undefined && hasHour(hours, hour);
      return held === undefined ? isIn : !isIn;
    },
  };
}

/** Returns the nodes that somebody held, by their kind, the one with the least free time first. */
function receiversByKind(nodes: readonly NodeTime[]): ReadonlyMap<string, readonly NodeTime[]> {
  const receivers = new Map<string, NodeTime[]>();
  for (const node of nodes.toSorted(byFree)) {
    if (node.heldMillis === 0) continue;
    const kind = nodeKind(node);
    const ofKind = receivers.get(kind);
    if (ofKind === undefined) receivers.set(kind, [node]);
    else ofKind.push(node);
  }
  return receivers;
}

/** Returns places for the GPUs of a unit on a node, beside the places that are taken; undefined if it has no room. */
function placesOn(receiver: NodeTime, unit: Unit, taken: SlotHours | undefined): readonly Place[] | undefined {
  if (receiver.free.size < unit.size) return undefined;
  const places: Place[] = [];
  for (const hours of unit.values()) {
    const found = [...receiver.free].find(([slot, free]) => {
      const ofSlot = taken?.get(slot);
      return (
        hasHours(free, hours) &&
        !(ofSlot !== undefined && haveCommonHour(ofSlot, hours)) &&
        !places.some((place) => place.slot === slot)
      );
    });
    if (found === undefined) return undefined;
    places.push({ node: nameOf(receiver), slot: found[0], hours });
  }
  return places;
}

/** Returns the pods of a node as units, those with the most GPUs first. */
function unitsOf({ pods }: NodeTime): readonly Unit[] {
  let units: readonly Unit[] = [];
  for (const [, ofPod] of [...pods].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const together = units.filter((unit) =>
      [...ofPod].some(([slot, hours]) => unit.has(slot) && haveCommonHour(unit.get(slot)!, hours)),
    );
    const unit = new Map<number, HourSet>();
    for (const each of [ofPod, ...together]) addSlotHours(unit, each);
    units = [...units.filter((each) => !together.includes(each)), unit];
  }
  return units.toSorted((one, other) => other.size - one.size);
}

/** A node that was not there all the time, or with fewer GPUs, is not worth the time of another one. */
function canLeave({ row, isMovable, heldMillis, existsMillis }: NodeTime, hours: number): boolean {
  return isMovable && heldMillis > 0 && existsMillis === row.machine.delivered * hours * HOUR_MILLIS;
}

function takesPods(taken: SlotHours | undefined): boolean {
  return taken !== undefined && [...taken.values()].some((hours) => countHours(hours) > 0);
}

function nameOf({ row }: NodeTime): string {
  return row.node;
}

function byHeld(one: NodeTime, other: NodeTime): number {
  return one.heldMillis - other.heldMillis || byName(one, other);
}

function byFree(one: NodeTime, other: NodeTime): number {
  return freeOf(one) - freeOf(other) || byName(one, other);
}

function freeOf({ existsMillis, heldMillis }: NodeTime): number {
  return existsMillis - heldMillis;
}

function byName(one: NodeTime, other: NodeTime): number {
  return nameOf(one) < nameOf(other) ? -1 : 1;
}
