import type { ClusterFact } from "../cluster-fact.ts";
import type { FactOrigin } from "../fact.ts";
import type { InventoryFact } from "../inventory.ts";
import type { WorkloadFact } from "../workload.ts";
import type { Shape } from "./shape.ts";
import { clusterFactShape, inventoryShape, workloadShape } from "./shapes.ts";

/**
 * The version of the facts' JSON. A reader accepts every released version and waits at a later one. The version is raised if an earlier
 * reader would misread messages, for example for a new kind of ask or evidence. It is not raised for fields and kinds of cluster facts that
 * an earlier reader may ignore.
 */
export const FACT_SCHEMA_VERSION = 1;

/** A message of a fact, ready for the bus. */
export interface FactMessage {
  readonly key: string;
  readonly value: Uint8Array;
  readonly schemaVersion: number;
}

const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", { fatal: true });

/** Returns the key of a pod's facts on `gpu.workloads`. */
export function workloadKey({ cluster, uid }: Pick<WorkloadFact, "cluster" | "uid">): string {
  return JSON.stringify([cluster, uid]);
}

/** Returns the key of a node's facts on `gpu.inventory`. */
export function inventoryKey({ cluster, node }: Pick<InventoryFact, "cluster" | "node">): string {
  return JSON.stringify([cluster, node]);
}

/** Returns the key of an object's facts on `gpu.cluster`. It uses the UID, because two schedulers may have queues of one name. */
export function clusterFactKey({ cluster, kind, uid }: Pick<ClusterFact, "cluster" | "kind" | "uid">): string {
  return JSON.stringify([cluster, kind, uid]);
}

/** Encodes the message of a pod's fact. */
export function encodeWorkload(fact: WorkloadFact): FactMessage {
  return encode(workloadKey(fact), fact);
}

/** Encodes the message of a node's fact. */
export function encodeInventory(fact: InventoryFact): FactMessage {
  return encode(inventoryKey(fact), fact);
}

/** Encodes the message of another object's fact. */
export function encodeClusterFact(fact: ClusterFact): FactMessage {
  return encode(clusterFactKey(fact), fact);
}

/** Decodes a pod's fact. If the bytes are not one, returns the reason as a sentence. Never throws. */
export function decodeWorkload(bytes: Uint8Array): WorkloadFact | { readonly invalid: string } {
  return decode<WorkloadFact>(bytes, workloadShape);
}

/** Decodes a node's fact. If the bytes are not one, returns the reason as a sentence. Never throws. */
export function decodeInventory(bytes: Uint8Array): InventoryFact | { readonly invalid: string } {
  return decode<InventoryFact>(bytes, inventoryShape);
}

/** Decodes another object's fact. If the bytes are not one, returns the reason as a sentence. Never throws. */
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
