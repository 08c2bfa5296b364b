import type { ClusterFact } from "../cluster-fact.ts";
import type { FactOrigin } from "../fact.ts";
import type { InventoryFact } from "../inventory.ts";
import type { WorkloadFact } from "../workload.ts";
import type { Shape } from "./shape.ts";
import { clusterFactShape, inventoryShape, workloadShape } from "./shapes.ts";

/**
 * The version of the facts' JSON. A reader knows every version that was ever released, and waits at a later one. It goes up for
 * messages that an earlier reader would misread, as with a new kind of ask or evidence; fields and kinds of cluster facts that
 * an earlier reader may pass over leave it as it is.
 */
export const FACT_SCHEMA_VERSION = 1;

/** A message as the bus takes it. */
export interface FactMessage {
  readonly key: string;
  readonly value: Uint8Array;
  readonly schemaVersion: number;
}

const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", { fatal: true });

/** The key of a pod's facts on `gpu.workloads`. */
export function workloadKey({ cluster, uid }: Pick<WorkloadFact, "cluster" | "uid">): string {
  return JSON.stringify([cluster, uid]);
}

/** The key of a node's facts on `gpu.inventory`. */
export function inventoryKey({ cluster, node }: Pick<InventoryFact, "cluster" | "node">): string {
  return JSON.stringify([cluster, node]);
}

/** The key of an object's facts on `gpu.cluster`. By UID, as two schedulers may have queues of one name. */
export function clusterFactKey({ cluster, kind, uid }: Pick<ClusterFact, "cluster" | "kind" | "uid">): string {
  return JSON.stringify([cluster, kind, uid]);
}

/** The message of a pod's fact. */
export function encodeWorkload(fact: WorkloadFact): FactMessage {
  return encode(workloadKey(fact), fact);
}

/** The message of a node's fact. */
export function encodeInventory(fact: InventoryFact): FactMessage {
  return encode(inventoryKey(fact), fact);
}

/** The message of another object's fact. */
export function encodeClusterFact(fact: ClusterFact): FactMessage {
  return encode(clusterFactKey(fact), fact);
}

/** A pod's fact, or why the bytes are none, in a sentence. Throws nothing. */
export function decodeWorkload(bytes: Uint8Array): WorkloadFact | { readonly invalid: string } {
  return decode<WorkloadFact>(bytes, workloadShape);
}

/** A node's fact, or why the bytes are none. */
export function decodeInventory(bytes: Uint8Array): InventoryFact | { readonly invalid: string } {
  return decode<InventoryFact>(bytes, inventoryShape);
}

/** Another object's fact, or why the bytes are none. */
export function decodeClusterFact(bytes: Uint8Array): ClusterFact | { readonly invalid: string } {
  return decode<ClusterFact>(bytes, clusterFactShape);
}

function encode(key: string, fact: FactOrigin): FactMessage {
  return { key, value: utf8.encode(JSON.stringify(fact)), schemaVersion: FACT_SCHEMA_VERSION };
}

function decode<Fact extends FactOrigin>(bytes: Uint8Array, shape: Shape): Fact | { readonly invalid: string } {
  let value: unknown;
  try {
    value = JSON.parse(text.decode(bytes));
  } catch (error) {
    return { invalid: error instanceof Error ? error.message : String(error) };
  }
  const invalid = shape(value, "it");
  return invalid === undefined ? (value as Fact) : { invalid };
}
