import type { InventoryFact } from "../../domain/inventory.ts";
import { withShown } from "../../domain/share/node-gpus.ts";

/** The nodes that have GPUs, as their objects and the samples describe them. Keys are those of `inventoryKey`. */
export interface LiveNodes {
  readonly all: ReadonlyMap<string, InventoryFact>;
  put(key: string, fact: InventoryFact): void;
  /** Records the number of GPUs in a node's samples. The highest number counts. Returns whether the node's GPUs have changed. */
  show(key: string, gpus: number): boolean;
  /** Removes a node. Returns whether it was there. */
  remove(key: string): boolean;
}

/** Creates an empty set of nodes. */
export function createLiveNodes(): LiveNodes {
  const facts = new Map<string, InventoryFact>();
  const shown = new Map<string, number>();
  const all = new Map<string, InventoryFact>();

  /** Counts the GPUs of a node by its objects and samples. Returns whether they have changed. */
  function count(key: string, fact: InventoryFact): boolean {
    const gpus = withShown(fact.gpus, shown.get(key) ?? 0);
    const isOther = JSON.stringify(gpus) !== JSON.stringify(all.get(key)?.gpus);
    all.set(key, { ...fact, gpus });
    return isOther;
  }

  return {
    all,
    put(key, fact) {
      facts.set(key, fact);
      count(key, fact);
    },
    show(key, gpus) {
      if (gpus <= (shown.get(key) ?? 0)) return false;
      shown.set(key, gpus);
      const fact = facts.get(key);
      return fact !== undefined && count(key, fact);
    },
    remove(key) {
      facts.delete(key);
      shown.delete(key);
      return all.delete(key);
    },
  };
}
