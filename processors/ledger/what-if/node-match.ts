import type { UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import type { NodeChange } from "../../../runtime/config/what-if.ts";

/** A node with its machine and one of its GPUs. */
export interface NamedNode {
  readonly cluster: string;
  readonly node: string;
  readonly machine: Pick<UsageMachine, "pool" | "instanceType">;
  readonly gpu: { readonly model?: string };
}

/** Returns true if a change is for a node: each given field matches. */
export function isNode({ names }: NodeChange["where"], { cluster, node, machine, gpu }: NamedNode): boolean {
  const { pool = "", instanceType = "" } = machine;
  const values = { cluster, node, pool, instanceType, model: gpu.model ?? "" };
  return Object.entries(names).every(([field, pattern]) => pattern?.fits(values[field as keyof typeof values]) ?? true);
}

/** Returns the key of a node among all clusters. */
export function nodeKey(cluster: string, node: string): string {
  return JSON.stringify([cluster, node]);
}
