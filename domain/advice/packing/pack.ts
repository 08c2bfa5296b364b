import { addHours, countHours, hasHours, haveCommonHour, removeHours, type HourSet } from "./hour-set.ts";
import { HOUR_MILLIS } from "../../time.ts";
import { nodeKind, type NodeTime } from "./node-time.ts";
import { addSlotHours, hasSlotHour, type SlotHours } from "./slot-hours.ts";

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

/** A node that can take pods. */
interface Receiver {
  readonly time: NodeTime;
  /** The free hours that no pod has taken, and their number. */
  readonly room: Map<number, HourSet>;
  left: number;
  takesPods: boolean;
}

/** A GPU of another node, with the hours that are taken of it. */
interface Place {
  readonly receiver: Receiver;
  readonly slot: number;
  readonly hours: HourSet;
}

/** Nodes of which at most `most` should leave. */
export interface Wanted {
  readonly candidates: readonly NodeTime[];
  readonly most: number;
}

/**
 * Returns candidates that can leave: each was there in all of these hours, and each of its pods has room on one other node of the same kind for
 * all of its time, beside what that node held. The candidate with the least held time comes first. A pod goes to the node with the least free
 * time that has room. A node that takes pods does not leave, so that no pod moves twice. Nodes that nobody held take none: they can leave as
 * they are. The same nodes give the same result in any order.
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
  const held = nodes.filter(({ heldMillis }) => heldMillis > 0).toSorted(byFree);
  const receivers = new Map(held.map((time) => [nameOf(time), receiverOf(time)]));
  const byKind = receiversByKind([...receivers.values()]);
  const leaving = new Map<string, SlotHours>();
  let pods = 0;

  /** Returns the places of a unit on one other node that has room for it; undefined if there is none. */
  function placesFor(candidate: NodeTime, unit: Unit): readonly Place[] | undefined {
    const need = totalOf(unit);
    for (const receiver of byKind.get(nodeKind(candidate))!) {
      if (receiver.left < need || receiver.time === candidate || leaving.has(nameOf(receiver.time))) continue;
      const places = placesOn(receiver, unit);
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
        placed.forEach(giveBack);
        return false;
      }
      places.forEach(take);
      placed.push(...places);
    }
    for (const { receiver } of placed) receiver.takesPods = true;
    return true;
  }

  for (const { candidates, most } of wanted) {
    const leave = leaving.size + most;
    for (const candidate of candidates.toSorted(byHeld)) {
      if (leaving.size >= leave) break;
      const node = nameOf(candidate);
      if (leaving.has(node) || !canLeave(candidate, hoursOfUsage) || receivers.get(node)!.takesPods) continue;
      if (!empties(candidate)) continue;
      const ofNode = new Map<number, HourSet>();
      for (const ofPod of candidate.pods.values()) addSlotHours(ofNode, ofPod);
      leaving.set(node, ofNode);
      pods += candidate.pods.size;
    }
  }
  return {
    leaving: [...leaving.keys()],
    pods,
    nodes: [...leaving.keys(), ...[...receivers].flatMap(([node, { takesPods }]) => (takesPods ? node : []))],
    leaves(node, slot, hour) {
      const ofLeaving = leaving.get(node);
      if (ofLeaving !== undefined) return !hasSlotHour(ofLeaving, slot, hour);
      const receiver = receivers.get(node);
      return (
        receiver !== undefined && hasSlotHour(receiver.time.free, slot, hour) && !hasSlotHour(receiver.room, slot, hour)
      );
    },
  };
}

function receiverOf(time: NodeTime): Receiver {
  const room = new Map([...time.free].map(([slot, hours]) => [slot, hours.slice()]));
  return { time, room, left: totalOf(room), takesPods: false };
}

function receiversByKind(receivers: readonly Receiver[]): ReadonlyMap<string, readonly Receiver[]> {
  const byKind = new Map<string, Receiver[]>();
  for (const receiver of receivers) {
    const kind = nodeKind(receiver.time);
    const ofKind = byKind.get(kind);
    if (ofKind === undefined) byKind.set(kind, [receiver]);
    else ofKind.push(receiver);
  }
  return byKind;
}

/** Returns places for the GPUs of a unit on a node; undefined if it has no room. */
function placesOn(receiver: Receiver, unit: Unit): readonly Place[] | undefined {
  const places: Place[] = [];
  for (const hours of unit.values()) {
    const slot = slotFor(receiver, hours, places);
    if (slot === undefined) return undefined;
    places.push({ receiver, slot, hours });
  }
  return places;
}

/** Returns the first GPU of a node with room for some hours, other than those of the places. */
function slotFor({ room }: Receiver, hours: HourSet, places: readonly Place[]): number | undefined {
  for (const [slot, free] of room)
    if (hasHours(free, hours) && !places.some((place) => place.slot === slot)) return slot;
  return undefined;
}

function take({ receiver, slot, hours }: Place): void {
  removeHours(receiver.room.get(slot)!, hours);
  receiver.left -= countHours(hours);
}

function giveBack({ receiver, slot, hours }: Place): void {
  addHours(receiver.room.get(slot)!, hours);
  receiver.left += countHours(hours);
}

function totalOf(bySlot: SlotHours): number {
  let total = 0;
  for (const hours of bySlot.values()) total += countHours(hours);
  return total;
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
