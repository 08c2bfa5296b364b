import type { SharingStrategy } from "./inventory.ts";
import type { GpuAsk } from "./workload.ts";

/** How a GPU, or a part of one, is held or could be. */
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
  /** It holds a GPU for the pods of a group, and nothing for itself. */
  | "reservation";

/**
 * The regimes of a pod's asks, each once; of a pod that asks for nothing but reserves a GPU for others, its own word. An ask for
 * a GPU is one for a replica where the node shares its GPUs.
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
        return ask.scheduler;
      case "fraction":
        return "fraction";
      case "claim":
        return "dra";
    }
  });
  return [...new Set(regimes)];
}

/** The regime of a device that nobody is known to hold: by what it is, and how its node shares GPUs. */
export function regimeOfDevice(
  device: { readonly isInstance: boolean; readonly isPartition: boolean },
  sharing: SharingStrategy,
): Regime {
  if (device.isPartition) return "partition";
  if (device.isInstance) return "mig";
  return sharing === "none" ? "whole" : sharing;
}
