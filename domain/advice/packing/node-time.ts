import type { UsageHour } from "../../allocation/usage-hour.ts";
import { HOUR_MILLIS } from "../../time.ts";
import type { Window } from "../evidence.ts";
import { addHour, createHourSet, type HourSet } from "./hour-set.ts";
import { hoursOf, type SlotHours } from "./slot-hours.ts";

/** The time of a node's GPUs in a span of whole hours. */
export interface NodeTime {
  /** A row of the node. */
  readonly row: UsageHour;
  /** GPU-milliseconds in which the GPUs were there, and in which they were held. */
  readonly existsMillis: number;
  readonly heldMillis: number;
  /** False if the node could not be used at some time, or if a GPU had a holder that is no pod, or that held only a part of it. */
  readonly isMovable: boolean;
  /** The hours in which a GPU was usable, and nobody held it, from the first to the last millisecond. */
  readonly free: SlotHours;
  /** By pod: the hours in which the pod held a GPU at some time. */
  readonly pods: ReadonlyMap<string, SlotHours>;
}

/** The time of a cluster's nodes while their usage is read. */
export interface NodeTimes {
  add(row: UsageHour): void;
  /** By name, in the order of their first rows. */
  readonly nodes: ReadonlyMap<string, NodeTime>;
  /** The hours for which the cluster has usage. */
  readonly hours: HourSet;
}

/** The time of a node while its usage is read. */
interface Sums extends NodeTime {
  existsMillis: number;
  heldMillis: number;
  isMovable: boolean;
  readonly free: Map<number, HourSet>;
  readonly pods: Map<string, Map<number, HourSet>>;
}

/** Creates the sums of the time of a cluster's nodes. */
export function createNodeTimes(window: Window): NodeTimes {
  const nodes = new Map<string, Sums>();
  const hours = createHourSet((window.until - window.from) / HOUR_MILLIS);
  return {
    nodes,
    hours,
    add(row) {
      const { node, slot, segment, holders } = row;
      let sums = nodes.get(node);
      if (sums === undefined) {
        sums = { row, existsMillis: 0, heldMillis: 0, isMovable: true, free: new Map(), pods: new Map() };
        nodes.set(node, sums);
      }
      const millis = segment.untilMillis - segment.fromMillis;
      const hour = hourNumber(row, window);
      addHour(hours, hour);
      sums.existsMillis += millis;
      if (segment.unavailableBecause !== "" || segment.isCordoned) sums.isMovable = false;
      else if (holders.length === 0 && millis === HOUR_MILLIS) addHour(hoursOf(sums.free, slot, hours), hour);
      if (holders.length === 0) return;
      sums.heldMillis += millis;
      for (const [index, { kind, namespace, name }] of holders.entries()) {
        if (kind !== "pod" || segment.claims[index]!.claim.held.what !== "whole") sums.isMovable = false;
        const pod = `${namespace}/${name}`;
        const ofPod = sums.pods.get(pod) ?? new Map<number, HourSet>();
        sums.pods.set(pod, ofPod);
        addHour(hoursOf(ofPod, slot, hours), hour);
      }
    },
  };
}

/** Returns the number of the hour of a row in a window. */
export function hourNumber({ segment }: UsageHour, { from }: Window): number {
  return Math.floor((segment.fromMillis - from) / HOUR_MILLIS);
}

/** Returns the kind of a node. Prices, and the places to which pods can go, depend on its fields. */
export function nodeKind({ row: { machine, segment } }: NodeTime): string {
  const { pool, instanceType, capacityType, region, zone, delivered } = machine;
  return JSON.stringify([pool, segment.gpu.model, instanceType, capacityType, region, zone, delivered]);
}
