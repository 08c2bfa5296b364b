import { setImmediate } from "node:timers/promises";
import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { chargeNode, type ChargedNode, type Rules } from "../charge/charge-node.ts";
import { failedNode, type Breach } from "../charge/breach.ts";
import { readUsage } from "../metering/usage-rows.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { fleetNodes } from "./fleet-hours.ts";
import { FLEET } from "../../../domain/charge/fleet.ts";
import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";

/** The charges of a node before anything is spread, or the reason why there are none. */
export interface NodeCharges {
  readonly node: string;
  readonly charged: ChargedNode | Breach;
}

/**
 * Yields the charges of an hour of a cluster, node by node, before anything is spread. For {@link FLEET}, yields charges that belong to no cluster.
 * Fails with a `StoreError`.
 */
export async function* chargedNodes(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  rules: Rules,
): AsyncGenerator<NodeCharges> {
  if (cluster === FLEET) {
    yield* fleetNodes(store, windowStart, rules);
    return;
  }
  yield* chargedUsage(await together(store, usageOfHours, { cluster, windowStart }), rules);
}

/** Returns the published rows of each hour. Those of a single hour are never all in memory. */
async function usageOfHours(store: StoreClient, windows: readonly WindowOfCluster[]): Promise<readonly Portions[]> {
  const { cluster } = windows[0]!;
  const starts = windows.map(({ windowStart }) => windowStart);
  const span = { from: Math.min(...starts), until: Math.max(...starts) + HOUR_MILLIS };
  const read = readUsage(store, cluster, span);
  if (windows.length === 1) return [read];
  const hours = new Map(starts.map((start): [number, UsageHour[]] => [start, []]));
  for await (const rows of read) for (const row of rows) hours.get(hourOf(row.segment.fromMillis))?.push(row);
  return starts.map((start) => [hours.get(start)!]);
}

/** Usage rows in portions, from the store or from the meter. */
export type Portions = AsyncIterable<readonly UsageHour[]> | Iterable<readonly UsageHour[]>;

/** Yields the charges of nodes whose rows come sorted by node, slot and time, before anything is spread. */
export async function* chargedUsage(portions: Portions, rules: Rules): AsyncGenerator<NodeCharges> {
  for await (const hours of nodesOf(portions)) {
    const [{ node }] = hours as readonly [UsageHour];
    yield { node, charged: chargedOrFailed(node, hours, rules) };
  }
}

function chargedOrFailed(node: string, hours: readonly UsageHour[], rules: Rules): NodeCharges["charged"] {
  try {
    return chargeNode(hours, rules);
  } catch (error) {
    return failedNode("charges", node, error);
  }
}

/** The number of nodes after which other work of the event loop gets its turn. */
const NODES_AT_A_STRETCH = 32;

/** Yields the rows of one node in one hour after the other, and lets other work of the event loop have its turns. */
export async function* nodesOf(portions: Portions): AsyncGenerator<readonly UsageHour[]> {
  let rows: UsageHour[] = [];
  let nodes = 0;
  for await (const portion of portions) {
    for (const row of portion) {
      if (rows.length > 0 && !isSameNodeHour(rows[0]!, row)) {
        yield rows;
        rows = [];
        nodes += 1;
        if (nodes % NODES_AT_A_STRETCH === 0) await setImmediate();
      }
      rows.push(row);
    }
  }
  if (rows.length > 0) yield rows;
}

function isSameNodeHour(one: UsageHour, other: UsageHour): boolean {
  return one.node === other.node && hourOf(one.segment.fromMillis) === hourOf(other.segment.fromMillis);
}
