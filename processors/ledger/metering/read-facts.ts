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

/** Reads the facts of some nodes within a span. Fails with a `StoreError`. */
export async function readFacts(
  store: StoreClient,
  cluster: string,
  nodes: readonly string[],
  span: Span,
): Promise<FactsOfNodes> {
  const asked = { cluster, nodes, span };
  const [machines, pods] = await Promise.all([together(store, readMachines, asked), together(store, readPods, asked)]);
  return { machines, pods };
}
