import type { Stage } from "../../../domain/allocation/segment.ts";
import type { Evidence } from "../../../domain/holder.ts";
import type { Held } from "../../../domain/share/claim.ts";
import type { GpuAt } from "../../../domain/share/layout.ts";
import type { MachineState, NamespaceState, Span } from "./node-record.ts";

/** A holder's claim on a GPU, before anything is measured. */
export interface PlannedClaim {
  readonly holder: PlannedHolder;
  readonly held: Held;
  readonly evidence: Evidence;
  readonly stage: Stage;
  /** Since when the holder has held a part of this device without a break. Samples from before do not count for it. */
  readonly since: number;
}

/** A pod by its UID; a job, or a pod without a fact, by its name. */
export type PlannedHolder =
  | { readonly kind: "pod"; readonly uid: string }
  | { readonly kind: "job" | "stranger"; readonly namespace: string; readonly name: string };

/** A slot over the longest time inside one hour in which all known facts, except the values of samples, stay the same. */
export interface PlannedSegment extends Span {
  readonly slot: number;
  /** The key of the GPU in the slot; empty if no sample showed one. */
  readonly gpuKey: string;
  readonly hasProcesses: boolean;
  readonly gpu: GpuAt;
  readonly unavailableBecause: string;
  readonly isCordoned: boolean;
  /** Sorted by instance, start, namespace and name: the order of ties. */
  readonly claims: readonly PlannedClaim[];
  /** The machine's state; undefined without Kubernetes. */
  readonly state: MachineState | undefined;
  /** When the slot appeared. */
  readonly appearedAt: number;
  /** The number of GPUs that the machine was delivered with. */
  readonly delivered: number;
  /** The namespaces of the holders. */
  readonly namespaces: ReadonlyMap<string, NamespaceState>;
}

/** A holder of a part of a slot at a moment. */
export interface SlotHolder {
  readonly slot: number;
  /** The instance or partition; empty for the GPU itself. */
  readonly part: string;
  readonly holder: PlannedHolder;
  readonly held: Held;
  readonly evidence: Evidence;
}
