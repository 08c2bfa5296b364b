import { priceFactsOfNode } from "../../domain/price/facts.ts";
import type { CapacityType, InventoryFact } from "../../domain/inventory.ts";
import type { CheckedNode } from "../../domain/price/check.ts";
import { instantOf, INSTANT_FORM } from "../../domain/price/instant.ts";
import type { PriceFacts } from "../../domain/price/match.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { CommandError } from "../context.ts";
import { openStore } from "../store.ts";

/** The options that describe a node. */
export interface NodeOptions {
  readonly cluster?: string;
  readonly node?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly instanceType?: string;
  readonly pool?: string;
  readonly model?: string;
  readonly capacityType?: CapacityType;
  readonly nodeLabel?: readonly string[];
}

/** Returns a date or time of the command line in milliseconds since the epoch; undefined if it is absent. */
export function instantOption(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const millis = instantOf(given);
  if (millis === undefined) throw new CommandError(`${name} ${given}: must be ${INSTANT_FORM}`, 2);
  return millis;
}

/**
 * Returns the node of the options. If they have at most a name and a cluster, returns the store's nodes at a time; without a store, a node
 * with only these properties. Fails with a `CommandError` if there is neither, and with a `StoreError`.
 */
export async function nodesOf(options: NodeOptions, config: Config, atMillis: number): Promise<readonly PriceFacts[]> {
  const { region, zone, instanceType, pool, model, capacityType, nodeLabel = [] } = options;
  const given = Object.entries({ region, zone, instanceType, pool, model, capacityType }).filter(
    ([, value]) => value !== undefined,
  );
  const isDescribed = given.length > 0 || nodeLabel.length > 0;
  const known = isDescribed
    ? undefined
    : await storedNodes(config, { fromMillis: atMillis, untilMillis: atMillis + 1 });
  if (known === undefined || ("unasked" in known && options.node !== undefined)) {
    const { cluster = config.cluster, node = "" } = options;
    return [{ cluster, node, ...Object.fromEntries(given), labels: Object.fromEntries(nodeLabel.map(labelOf)) }];
  }
  if ("unasked" in known) {
    throw new CommandError(
      `${known.unasked}: describe the node, with --node, --instance-type, --model or other options`,
      2,
    );
  }
  return known.nodes
    .map(({ facts }) => facts)
    .filter(({ cluster }) => options.cluster === undefined || options.cluster === cluster)
    .filter(({ node }) => options.node === undefined || options.node === node);
}

function labelOf(text: string): readonly [string, string] {
  const [, name, value] = /^([^=\s]+)=(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new CommandError(`--node-label ${text}: must be name=value, such as rack=r7`, 2);
  return [name, value];
}

const INVENTORY = `
  SELECT fact, toUnixTimestamp64Milli(valid_from) AS from_millis, toUnixTimestamp64Milli(valid_until) AS until_millis
  FROM inventory
  WHERE valid_from < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
    AND valid_until > fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  ORDER BY cluster, node, valid_from`;

interface InventoryRow {
  readonly fact: string;
  readonly from_millis: string;
  readonly until_millis: string;
}

/** The nodes of an inventory, or the reason why its store cannot be read. */
export type StoredNodes = { readonly nodes: readonly CheckedNode[] } | { readonly unasked: string };

/**
 * Returns the nodes of the store's inventory over a time: one for each GPU model on it and each period with the same properties. An
 * embedded store can be read while its `up` runs. Fails with a `StoreError`.
 */
export async function storedNodes(
  config: Config,
  { fromMillis, untilMillis }: { readonly fromMillis: number; readonly untilMillis: number },
): Promise<StoredNodes> {
  let store: StoreClient;
  try {
    store = await openStore(config);
  } catch (error) {
    if (error instanceof CommandError) return { unasked: error.message };
    throw error;
  }
  try {
    const rows = await store.query<InventoryRow>(INVENTORY, { from: fromMillis, until: untilMillis });
    const nodes = rows.flatMap(({ fact, from_millis, until_millis }) =>
      priceFactsOfNode(JSON.parse(fact) as InventoryFact).map((facts) => ({
        facts,
        fromMillis: Number(from_millis),
        untilMillis: Number(until_millis),
      })),
    );
    return { nodes };
  } finally {
    await store.close();
  }
}
