import type { CapacityType, InventoryFact } from "../inventory.ts";
import type { PriceFacts } from "./match.ts";

/** The fields of a machine that prices depend on, from a Node's fact or from usage. Unknown fields are absent. */
export interface PricedMachine {
  readonly region?: string;
  readonly zone?: string;
  readonly instanceType?: string;
  readonly pool?: string;
  readonly capacityType?: CapacityType;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the facts that a price entry can match, for a GPU of a model on a machine. */
export function priceFactsOf(
  { cluster, node, model }: { readonly cluster: string; readonly node: string; readonly model: string | undefined },
  { region, zone, instanceType, pool, capacityType, labels }: PricedMachine,
): PriceFacts {
  return {
    cluster,
    node,
    ...(region === undefined ? {} : { region }),
    ...(zone === undefined ? {} : { zone }),
    ...(instanceType === undefined ? {} : { instanceType }),
    ...(pool === undefined ? {} : { pool }),
    ...(model === undefined ? {} : { model }),
    ...(capacityType === undefined ? {} : { capacityType }),
    labels,
  };
}

/** Returns the facts that a price entry can match, for each GPU model of a node. */
export function priceFactsOfNode(fact: InventoryFact): readonly PriceFacts[] {
  const { cluster, node, gpus } = fact;
  const models = [...new Set(gpus.map(({ model }) => model))];
  return models.map((model) => priceFactsOf({ cluster, node, model }, fact));
}
