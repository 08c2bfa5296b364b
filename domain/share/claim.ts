import type { FractionAmounts } from "./fraction.ts";
import type { MigMeasure } from "./mig-shape.ts";
import type { SharedBy } from "./replicas.ts";
import type { VgpuAmounts } from "./vgpu.ts";

/** The measures of a policy: the fields `migShare` and `sharedBy`. */
export interface ShareMeasures {
  readonly migShare: MigMeasure;
  readonly sharedBy: SharedBy;
}

/** What somebody has of a device, wherever that is. */
export type PartOfDevice =
  /** All of it; with `reservedFor`, as one of so many pods that a DRA claim is reserved for. */
  | { readonly what: "whole"; readonly reservedFor?: number }
  /** What a DRA claim consumes of its capacity, `amount` of `of`; with `reservedFor` as above. */
  | { readonly what: "consumed"; readonly amount: number; readonly of: number; readonly reservedFor?: number }
  /** HAMi's or Volcano's part. */
  | ({ readonly what: "vgpu" } & VgpuAmounts)
  /** KAI's or Run:ai's part. */
  | ({ readonly what: "fraction" } & FractionAmounts);

/** What somebody holds of one GPU, whatever a policy makes of it. */
export type Held =
  | PartOfDevice
  /** A MIG instance, by its number on the GPU. */
  | { readonly what: "instance"; readonly instance: string; readonly reservedFor?: number }
  /** AMD's partition, by its number on the GPU. */
  | { readonly what: "partition"; readonly partition: string; readonly reservedFor?: number }
  /** Replicas of the GPU, or of the instance `part` of it. Activity as in `ReplicaClaim`. */
  | { readonly what: "replicas"; readonly count: number; readonly activity?: bigint; readonly part?: string }
  /**
   * `count` of the `setSize` members of a common set, of which `members` are here: 1, or the replicas of this GPU (or of its
   * instance or partition `part`) that are in the set; of each, what `each` says.
   */
  | {
      readonly what: "common";
      readonly count: number;
      readonly setSize: number;
      readonly members: number;
      readonly part?: string;
      readonly each?: PartOfDevice;
    };

/** A holder's claim on one GPU. */
export interface Claim {
  /** Who: a pod's UID, a job. */
  readonly holder: string;
  readonly held: Held;
}

/** The instance or partition that a claim is on; undefined for one on the GPU itself. */
export function partIdOf(held: Held): string | undefined {
  switch (held.what) {
    case "instance":
      return held.instance;
    case "partition":
      return held.partition;
    case "replicas":
    case "common":
      return held.part;
    case "whole":
    case "consumed":
    case "vgpu":
    case "fraction":
      return undefined;
  }
}
