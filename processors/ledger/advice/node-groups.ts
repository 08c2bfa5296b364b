import type { Window } from "../../../domain/advice/evidence.ts";
import type { GpuShape } from "../../../domain/advice/rule.ts";
import type { NodeGroup } from "../../../domain/advice/node-group.ts";
import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import type { OwnerRules } from "../../../domain/owner/compile.ts";
import { NO_WORKLOAD, PLATFORM } from "../../../domain/owner/owner.ts";
import { teamOf } from "../../../domain/owner/owners.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** The nodes of a cluster in a window, while their usage is read. */
export interface NodeSums {
  add(row: UsageHour): void;
  /** Returns the groups of equal nodes, and the kinds of GPUs, each in a fixed order. */
  groups(owners: OwnerRules): readonly NodeGroup[];
  shapes(): readonly GpuShape[];
}

interface NodeOfGroup {
  readonly hour: UsageHour;
  readonly hours: Set<number>;
  isHeld: boolean;
  existsMillis: number;
  heldMillis: number;
}

/** Creates the sums of the nodes of a cluster. */
export function createNodeSums(window: Window): NodeSums {
  const nodes = new Map<string, NodeOfGroup>();
  return {
    add: (row) => addNode(nodes, row, window),
    groups: (owners) => groupsOf(nodes, window, owners),
    shapes: () => shapesOf(nodes),
  };
}

function addNode(nodes: Map<string, NodeOfGroup>, row: UsageHour, window: Window): void {
  const known = nodes.get(row.node);
  const sums = known ?? { hour: row, hours: new Set<number>(), isHeld: false, existsMillis: 0, heldMillis: 0 };
  const millis = row.segment.untilMillis - row.segment.fromMillis;
  sums.existsMillis += millis;
  if (row.holders.length > 0) sums.heldMillis += millis;
  if (known === undefined) nodes.set(row.node, sums);
  sums.hours.add(hourNumber(row, window));
  // A node that cannot be used is not one that nobody needs.
  if (row.holders.length > 0 || row.segment.unavailableBecause !== "" || row.segment.isCordoned) sums.isHeld = true;
}

function groupsOf(nodes: ReadonlyMap<string, NodeOfGroup>, window: Window, owners: OwnerRules): readonly NodeGroup[] {
  const hours = (window.until - window.from) / HOUR_MILLIS;
  const groups = new Map<
    string,
    NodeGroup & { nodes: number; free: string[]; steady: NodeGroup["steady"][number][] }
  >();
  for (const [node, { hour, hours: seen, isHeld, existsMillis, heldMillis }] of [...nodes].toSorted(byKey)) {
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
      nodes: 0,
      free: [],
      steady: [],
      like: { cluster: hour.cluster, node, slot: hour.slot, model, machine: hour.machine },
      team,
    };
    groups.set(key, group);
    group.nodes += 1;
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

function shapesOf(nodes: ReadonlyMap<string, NodeOfGroup>): readonly GpuShape[] {
  const shapes = new Map<string, GpuShape>();
  for (const { hour } of nodes.values()) {
    const { instanceType, region, pool, capacityType, delivered } = hour.machine;
    const { model = "" } = hour.segment.gpu;
    if (model === "") continue;
    const given = { model, nodeGpus: delivered, instanceType, region, pool, capacityType };
    const shape = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
    shapes.set(JSON.stringify(shape), shape);
  }
  return [...shapes].toSorted(byKey).map(([, shape]) => shape);
}

/** Returns the number of the hour of a row in a window. */
export function hourNumber({ segment }: UsageHour, { from }: Window): number {
  return Math.floor((segment.fromMillis - from) / HOUR_MILLIS);
}

/** Compares entries of maps by their keys, independent of a locale. */
export function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}
