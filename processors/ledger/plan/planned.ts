import type { Stage } from "../../../domain/allocation/segment.ts";
import type { Evidence } from "../../../domain/holder.ts";
import type { Held } from "../../../domain/share/claim.ts";
import type { GpuAt } from "../../../domain/share/layout.ts";
import type { MachineState, NamespaceState, Span } from "./node-record.ts";

/** Who holds what of a GPU, before anything is measured. */
export interface PlannedClaim {
  readonly holder: PlannedHolder;
  readonly held: Held;
  readonly evidence: Evidence;
  readonly stage: Stage;
  /** Since when the holder has had something of this device without a break: samples from before do not speak for it. */
  readonly since: number;
}

/** A pod by its UID; a job, or a pod of which no fact tells, by its name. */
export type PlannedHolder =
  | { readonly kind: "pod"; readonly uid: string }
  | { readonly kind: "job" | "stranger"; readonly namespace: string; readonly name: string };

/** A slot over the longest time inside one hour in which all that is known of it, samples' values aside, stays the same. */
export interface PlannedSegment extends Span {
  readonly slot: number;
  /** Of the GPU that sits there; empty where no sample told of one. */
  readonly gpuKey: string;
  readonly hasProcesses: boolean;
  readonly gpu: GpuAt;
  readonly unavailableBecause: string;
  readonly isCordoned: boolean;
  /** By instance, start, namespace and name (ledger, "Words": the order of ties). */
  readonly claims: readonly PlannedClaim[];
  /** The machine's state; undefined without Kubernetes. */
  readonly state: MachineState | undefined;
  /** When the slot appeared. */
  readonly appearedAt: number;
  /** GPUs that the machine was delivered with. */
  readonly delivered: number;
  /** Of the namespaces of the holders. */
  readonly namespaces: ReadonlyMap<string, NamespaceState>;
}

/** Somebody who has something of a slot at a moment. */
export interface SlotHolder {
  readonly slot: number;
  /** The instance or partition; empty for the GPU itself. */
  readonly part: string;
  readonly holder: PlannedHolder;
  readonly held: Held;
  readonly evidence: Evidence;
}
