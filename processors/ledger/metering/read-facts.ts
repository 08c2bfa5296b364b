import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import type { Machine, Span } from "../plan/node-record.ts";
import { readMachines } from "./read-machines.ts";
import { readPods, type PodsOfNodes } from "./read-pods.ts";

/** The machines and pods of some nodes from facts, by node. */
export interface FactsOfNodes {
  readonly machines: ReadonlyMap<string, readonly Machine[]>;
  /** The pods that hold a part of the node. */
  readonly pods: PodsOfNodes;
}

/** The number of slices whose facts are read together. */
const SLICES_PER_READ = 5;

/**
 * Returns a function that reads the facts of a slice of nodes within a span. Slices should be requested approximately in order. Facts are
 * read for several slices at once: the store sorts facts of pods by UID and those of nodes in granules of thousands, so a read for a few
 * nodes reads the data of many.
 */
export function createFactReader(
  store: StoreClient,
  cluster: string,
  slices: readonly (readonly string[])[],
  span: Span,
): (index: number) => Promise<FactsOfNodes> {
  const reads = new Map<number, Promise<FactsOfNodes>>();
  return async (index) => {
    const number = Math.floor(index / SLICES_PER_READ);
    const nodes = slices.slice(number * SLICES_PER_READ, (number + 1) * SLICES_PER_READ).flat();
    const read = reads.get(number) ?? readFacts(store, cluster, nodes, span);
    reads.set(number, read);
    reads.delete(number - 2);
    const { machines, pods } = await read;
    return {
      machines: new Map(slices[index]!.map((node) => [node, machines.get(node) ?? []])),
      pods: new Map(slices[index]!.map((node) => [node, pods.get(node)!])),
    };
  };
}

async function readFacts(
  store: StoreClient,
  cluster: string,
  nodes: readonly string[],
  span: Span,
): Promise<FactsOfNodes> {
  const asked = { cluster, nodes, span };
  const [machines, pods] = await Promise.all([together(store, readMachines, asked), together(store, readPods, asked)]);
  return { machines, pods };
}
