import type { CapacityType, InventoryFact } from "../inventory.ts";
import type { PriceFacts } from "./match.ts";

/** A machine as far as prices look at it: a Node's fact, or what usage has kept of one. What is not known is absent. */
export interface PricedMachine {
  readonly region?: string;
  readonly zone?: string;
  readonly instanceType?: string;
  readonly pool?: string;
  readonly capacityType?: CapacityType;
  readonly labels: Readonly<Record<string, string>>;
}

/** What a price entry can match of a GPU of a model on a machine. */
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

/** What a price entry can match of a node, for each model of GPU on it. */
export function priceFactsOfNode(fact: InventoryFact): readonly PriceFacts[] {
  const { cluster, node, gpus } = fact;
  const models = [...new Set(gpus.map(({ model }) => model))];
  return models.map((model) => priceFactsOf({ cluster, node, model }, fact));
}
