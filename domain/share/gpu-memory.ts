import { ONE, rational, type Rational } from "../exact/rational.ts";
import { nominalMemoryMiB } from "./mig-product.ts";

/** The memory of one whole GPU. */
export interface GpuMemory {
  readonly mib: number;
  /** The memory was not measured. It comes from the model's name, which has a little more than the real memory. */
  readonly isNominal: boolean;
}

/**
 * An assumption about a share by memory. `gpu-memory-nominal`: the GPU has the memory in its model's name. `gpu-memory-unknown`: the name
 * has no memory either, and the amount counts as the whole memory.
 */
export type MemoryAssumption = "gpu-memory-nominal" | "gpu-memory-unknown";

/** A share by memory. */
export interface MemoryShare {
  readonly share: Rational;
  /** Absent if nothing was assumed. */
  readonly assumption?: MemoryAssumption;
}

/** Returns a GPU's memory as measured or from its node's labels, otherwise from its model's name; undefined if neither has it. */
export function gpuMemoryOf(gpu: { readonly model?: string; readonly memoryMiB?: number }): GpuMemory | undefined {
  if (gpu.memoryMiB !== undefined && gpu.memoryMiB > 0) return { mib: gpu.memoryMiB, isNominal: false };
  const nominal = nominalMemoryMiB(gpu.model);
  return nominal === undefined ? undefined : { mib: nominal, isNominal: true };
}

/**
 * Returns an amount of memory in MiB as a part of its GPU's memory. It is more than 1 if a scheduler oversells memory. If the GPU's memory
 * is unknown, the amount counts as all of it, so that the holders of the GPU divide it equally.
 */
export function memoryShare(memoryMiB: number, gpu: GpuMemory | undefined): MemoryShare {
  if (gpu === undefined) return { share: ONE, assumption: "gpu-memory-unknown" };
  const share = rational(memoryMiB, gpu.mib);
  return gpu.isNominal ? { share, assumption: "gpu-memory-nominal" } : { share };
}
