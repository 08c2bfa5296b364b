import type { FractionAmounts } from "./fraction.ts";
import type { MigMeasure } from "./mig-shape.ts";
import type { SharedBy } from "./replicas.ts";
import type { VgpuAmounts } from "./vgpu.ts";

/** The share measures of a policy: the fields `migShare` and `sharedBy`. */
export interface ShareMeasures {
  readonly migShare: MigMeasure;
  readonly sharedBy: SharedBy;
}

/** A holder's part of a device, without the device itself. */
export type PartOfDevice =
  /** The whole device. With `reservedFor`: as one of that many pods for which a DRA claim is reserved. */
  | { readonly what: "whole"; readonly reservedFor?: number }
  /** The capacity that a DRA claim consumes, `amount` of `of`. `reservedFor` as above. */
  | { readonly what: "consumed"; readonly amount: number; readonly of: number; readonly reservedFor?: number }
  /** A part allocated by HAMi or Volcano. */
  | ({ readonly what: "vgpu" } & VgpuAmounts)
  /** A part allocated by KAI or Run:ai. */
  | ({ readonly what: "fraction" } & FractionAmounts);

/** A holder's part of one GPU, independent of any policy. */
export type Held =
  | PartOfDevice
  /** A MIG instance, by its number on the GPU. */
  | { readonly what: "instance"; readonly instance: string; readonly reservedFor?: number }
  /** An AMD partition, by its number on the GPU. */
  | { readonly what: "partition"; readonly partition: string; readonly reservedFor?: number }
  /** Replicas of the GPU, or of its instance `part`. `activity` as in `ReplicaClaim`. */
  | { readonly what: "replicas"; readonly count: number; readonly activity?: bigint; readonly part?: string }
  /**
   * `count` of the `setSize` members of a common set. `members` of them are on this GPU: 1, or the replicas of this GPU (or of its instance
   * or partition `part`) that are in the set. `each` is the part of each member.
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
  /** The holder: a pod's UID or a job. */
  readonly holder: string;
  readonly held: Held;
}

/** Returns the instance or partition of a claim; undefined for a claim on the GPU itself. */
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
