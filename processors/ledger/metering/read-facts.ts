import type { StoreClient } from "../../../runtime/store/client.ts";
import type { Machine, Span } from "../plan/node-record.ts";
import { readMachines } from "./read-machines.ts";
import { readPods, type PodsOfNodes } from "./read-pods.ts";

/** What facts tell of some nodes, by node. */
export interface FactsOfNodes {
  readonly machines: ReadonlyMap<string, readonly Machine[]>;
  /** Those that hold something of it. */
  readonly pods: PodsOfNodes;
}

/** Slices whose facts are read in one go. */
const SLICES_PER_READ = 5;

/**
 * The facts of a slice of nodes within a span, for slices that are asked for in about their order. They are read for several slices at
 * once: facts of pods lie by UID, those of nodes by the thousand, and asking for a few nodes reads those of many.
 */
export function createFactReader(
  store: StoreClient,
  cluster: string,
  slices: readonly (readonly string[])[],
  span: Span,
): (index: number) => Promise<FactsOfNodes> {
  const reads = new Map<number, Promise<FactsOfNodes>>();
  return async (index) => {
    const place = Math.floor(index / SLICES_PER_READ);
    const nodes = slices.slice(place * SLICES_PER_READ, (place + 1) * SLICES_PER_READ).flat();
    const read = reads.get(place) ?? readFacts(store, cluster, nodes, span);
    reads.set(place, read);
    reads.delete(place - 2);
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
  const [machines, pods] = await Promise.all([
    readMachines(store, cluster, nodes, span),
    readPods(store, cluster, nodes, span),
  ]);
  return { machines, pods };
}
