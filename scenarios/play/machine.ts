import { nominalMemoryMiB } from "../../domain/share/mig-product.ts";
import type { GpuLayout } from "../../domain/share/layout.ts";
import { isWithin, type ScenarioNode } from "./tenure.ts";

/** Returns the vendor of a node's GPUs: AMD if its model is AMD's or it has partitions, else NVIDIA. */
export function vendorOf({ model, partitions }: ScenarioNode): "nvidia" | "amd" {
  return /^(amd|instinct|mi\d)/i.test(model) || Object.keys(partitions).length > 0 ? "amd" : "nvidia";
}

/** Returns the memory of one GPU in MiB by its model's name, as in a node's labels and an exporter; undefined if the name has none. */
export function memoryMiBOf({ model }: ScenarioNode): number | undefined {
  return nominalMemoryMiB(model);
}

/** Returns the layout or sharing of one GPU of a node at a time. The number of a MIG instance is its index in the written list. */
export function layoutAt(node: ScenarioNode, index: number, at: number): GpuLayout {
  const count = node.partitions[String(index)];
  if (count !== undefined) return { kind: "partitions", count };
  const profiles = migAt(node, at)?.layout[String(index)];
  if (profiles !== undefined)
    return { kind: "mig", instances: profiles.map((profile, instance) => ({ id: String(instance), profile })) };
  return node.sharing.strategy === "none" ? { kind: "whole" } : { kind: "shared", replicas: node.sharing.replicas };
}

/** Returns the MIG layout of a node at a time, with its date; undefined before the first. */
export function migAt({ mig }: ScenarioNode, at: number): MigState | undefined {
  if (mig === undefined) return undefined;
  if (!Array.isArray(mig)) return { from: -Infinity, layout: mig as MigState["layout"] };
  return mig.filter(({ from }) => from <= at).at(-1);
}

/** MIG profiles by GPU index, with their start. */
export interface MigState {
  readonly from: number;
  readonly layout: Readonly<Record<string, readonly string[]>>;
}

/** Returns the troubles of one GPU at a time, in the scenario's words: `xid-79`, `cordoned`. */
export function troublesAt(node: ScenarioNode, index: number, at: number): readonly string[] {
  return node.unavailable
    .filter((trouble) => (trouble.gpus ?? [index]).includes(index) && isWithin(trouble, at))
    .map(({ because }) => because);
}

/** Returns the XID that the exporter shows for a GPU at a time: latched for the written time of the trouble, 0 without one. */
export function xidAt(node: ScenarioNode, index: number, at: number): number {
  const codes = troublesAt(node, index, at).flatMap((because) => /^xid-(\d+)$/.exec(because)?.[1] ?? []);
  return Number(codes.at(-1) ?? 0);
}

/** Returns the times at which a node's state changes by its own text: troubles, MIG layouts. */
export function changesOf(node: ScenarioNode): readonly number[] {
  const troubles = node.unavailable.flatMap(({ from, until }) => [from, until]);
  return [...troubles, ...layoutChangesOf(node)].filter((at) => at !== undefined);
}

/** Returns the times at which a node's MIG layout changes. */
export function layoutChangesOf({ mig }: ScenarioNode): readonly number[] {
  return Array.isArray(mig) ? mig.map(({ from }) => from) : [];
}

/** The indexes of a node's GPUs. */
export function gpuIndexes({ gpus }: ScenarioNode): readonly number[] {
  return Array.from({ length: gpus }, (_, index) => index);
}
