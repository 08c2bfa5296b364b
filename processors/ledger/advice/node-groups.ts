import type { Window } from "../../../domain/advice/evidence.ts";
import type { GpuShape } from "../../../domain/advice/rule.ts";
import type { HourSet } from "../../../domain/advice/packing/hour-set.ts";
import { createNodeTimes, hourNumber, type NodeTime } from "../../../domain/advice/packing/node-time.ts";
import type { NodeGroup } from "../../../domain/advice/node-group.ts";
import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import type { OwnerRules } from "../../../domain/owner/compile.ts";
import { NO_WORKLOAD, PLATFORM } from "../../../domain/owner/owner.ts";
import { teamOf } from "../../../domain/owner/owners.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** The nodes of a cluster in a window, while their usage is read. */
export interface NodeSums {
  add(row: UsageHour): void;
  /** The hours of the window for which the cluster has usage. */
  readonly hours: HourSet;
  /** Returns the groups of equal nodes, and the kinds of GPUs, each in a fixed order. */
  groups(owners: OwnerRules): readonly NodeGroup[];
  shapes(): readonly GpuShape[];
}

interface NodeOfGroup {
  readonly hours: Set<number>;
  isHeld: boolean;
}

/** Creates the sums of the nodes of a cluster. */
export function createNodeSums(window: Window): NodeSums {
  const nodes = new Map<string, NodeOfGroup>();
  const times = createNodeTimes(window);
  return {
    add(row) {
      addNode(nodes, row, window);
      times.add(row);
    },
    hours: times.hours,
    groups: (owners) => groupsOf(nodes, times.nodes, window, owners),
    shapes: () => shapesOf(times.nodes),
  };
}

function addNode(nodes: Map<string, NodeOfGroup>, row: UsageHour, window: Window): void {
  const known = nodes.get(row.node);
  const sums = known ?? { hours: new Set<number>(), isHeld: false };
  if (known === undefined) nodes.set(row.node, sums);
  sums.hours.add(hourNumber(row, window));
  // A node that cannot be used is not one that nobody needs.
  if (row.holders.length > 0 || row.segment.unavailableBecause !== "" || row.segment.isCordoned) sums.isHeld = true;
}

function groupsOf(
  nodes: ReadonlyMap<string, NodeOfGroup>,
  times: ReadonlyMap<string, NodeTime>,
  window: Window,
  owners: OwnerRules,
): readonly NodeGroup[] {
  const hours = (window.until - window.from) / HOUR_MILLIS;
  const groups = new Map<
    string,
    NodeGroup & { nodes: NodeTime[]; free: string[]; steady: NodeGroup["steady"][number][] }
  >();
  for (const [node, time] of [...times].toSorted(byKey)) {
    const { row: hour, existsMillis, heldMillis } = time;
    const { hours: seen, isHeld } = nodes.get(node)!;
    const { pool = "", instanceType = "", capacityType = "" } = hour.machine;
    const { model = "" } = hour.segment.gpu;
    const key = JSON.stringify([pool, model, instanceType, capacityType]);
    const team = poolTeam(owners, pool, window.until - 1);
    const group = groups.get(key) ?? {
      cluster: hour.cluster,
      pool,
      model,
      instanceType,
      capacityType,
      nodes: [],
      free: [],
      steady: [],
      like: { cluster: hour.cluster, node, slot: hour.slot, model, machine: hour.machine },
      team,
    };
    groups.set(key, group);
    group.nodes.push(time);
    if (seen.size !== hours) continue;
    if (!isHeld) group.free.push(node);
    group.steady.push({ node, held: heldMillis / existsMillis });
  }
  return [...groups].toSorted(byKey).map(([, group]) => group);
}

/** Returns the team that owns a pool by its name alone, or the platform. */
function poolTeam(owners: OwnerRules, pool: string, at: number): string {
  const { value, rule } = teamOf(owners, { ...NO_WORKLOAD, pool }, at);
  return pool === "" || rule === "" ? PLATFORM : value;
}

function shapesOf(nodes: ReadonlyMap<string, NodeTime>): readonly GpuShape[] {
  const shapes = new Map<string, GpuShape>();
  for (const { row: hour } of nodes.values()) {
    const { instanceType, region, pool, capacityType, delivered } = hour.machine;
    const { model = "" } = hour.segment.gpu;
    if (model === "") continue;
    const given = { model, nodeGpus: delivered, instanceType, region, pool, capacityType };
    const shape = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
    shapes.set(JSON.stringify(shape), shape);
  }
  return [...shapes].toSorted(byKey).map(([, shape]) => shape);
}

/** Compares entries of maps by their keys, independent of a locale. */
export function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}
