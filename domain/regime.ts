import type { SharingStrategy } from "./inventory.ts";
import type { GpuAsk } from "./workload.ts";

/** The regime in which a GPU, or a part of one, is or can be held. */
export type Regime =
  | "whole"
  | "time-slicing"
  | "mps"
  | "mig"
  | "partition"
  | "hami"
  | "volcano"
  | "fraction"
  | "dra"
  /** A pod that holds a GPU for the pods of a group, and nothing for itself. */
  | "reservation";

/**
 * Returns the regimes of a pod's requests, without duplicates. A pod without requests that reserves a GPU for others has the regime
 * `reservation`. A request for a GPU is one for a replica if the node shares its GPUs.
 */
export function regimesOf(asks: readonly GpuAsk[], sharing: SharingStrategy = "none"): readonly Regime[] {
  if (asks.length === 0) return ["reservation"];
  const regimes = asks.map((ask): Regime => {
    switch (ask.kind) {
      case "gpu":
        return sharing === "none" ? "whole" : sharing;
      case "mig":
        return "mig";
      case "vgpu":
        return ask.scheduler === "volcano" ? "volcano" : "hami";
      case "fraction":
        return "fraction";
      case "claim":
        return "dra";
    }
  });
  return [...new Set(regimes)];
}

/** Returns the regime of a device without a known holder, from the kind of device and the node's sharing. */
export function regimeOfDevice(
  device: { readonly isInstance: boolean; readonly isPartition: boolean },
  sharing: SharingStrategy,
): Regime {
  if (device.isPartition) return "partition";
  if (device.isInstance) return "mig";
  return sharing === "none" ? "whole" : sharing;
}
