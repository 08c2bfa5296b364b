import { ONE, rational } from "../exact/rational.ts";
import { memoryShare, type GpuMemory, type MemoryShare } from "./gpu-memory.ts";

/** A pod's part of each of its GPUs by KAI or Run:ai: a fraction in parts per million, or memory in MiB. */
export interface FractionAmounts {
  readonly ppm?: number;
  readonly memoryMiB?: number;
}

const PARTS = 1_000_000;

/**
 * Returns the share of one GPU: the fraction, or memory / total. A pod with n devices has this share of each. A request with neither is for
 * a whole GPU.
 */
export function fractionShare({ ppm, memoryMiB }: FractionAmounts, gpu: GpuMemory | undefined): MemoryShare {
  if (ppm !== undefined) return { share: rational(ppm, PARTS) };
  return memoryMiB === undefined ? { share: ONE } : memoryShare(memoryMiB, gpu);
}
