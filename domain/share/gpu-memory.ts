import { ONE, rational, type Rational } from "../exact/rational.ts";
import { nominalMemoryMiB } from "./mig-product.ts";

/** The memory of one whole GPU. */
export interface GpuMemory {
  readonly mib: number;
  /** It was not measured: it is what the model's name says, which is a little more than the real one. */
  readonly isNominal: boolean;
}

/**
 * What had to be assumed of a share by memory: that the GPU has the memory that its model's name says; or, where that says none
 * either, that an amount of memory is all of it.
 */
export type MemoryAssumption = "gpu-memory-nominal" | "gpu-memory-unknown";

/** A share by memory. */
export interface MemoryShare {
  readonly share: Rational;
  /** Absent where nothing was assumed. */
  readonly assumption?: MemoryAssumption;
}

/** A GPU's memory as measured or as its node's labels have it, else as its model's name has it; undefined where nothing tells. */
export function gpuMemoryOf(gpu: { readonly model?: string; readonly memoryMiB?: number }): GpuMemory | undefined {
  if (gpu.memoryMiB !== undefined && gpu.memoryMiB > 0) return { mib: gpu.memoryMiB, isNominal: false };
  const nominal = nominalMemoryMiB(gpu.model);
  return nominal === undefined ? undefined : { mib: nominal, isNominal: true };
}

/**
 * An amount of memory in MiB as the part of its GPU's. It is more than 1 where a scheduler sells memory that is not there. Where
 * the GPU's memory is not known, the amount counts as all of it, so that those who hold the GPU divide it equally.
 */
export function memoryShare(memoryMiB: number, gpu: GpuMemory | undefined): MemoryShare {
  if (gpu === undefined) return { share: ONE, assumption: "gpu-memory-unknown" };
  const share = rational(memoryMiB, gpu.mib);
  return gpu.isNominal ? { share, assumption: "gpu-memory-nominal" } : { share };
}
