import { compare, ONE, rational } from "../exact/rational.ts";
import { memoryShare, type GpuMemory, type MemoryShare } from "./gpu-memory.ts";

/** A pod's part of one GPU by HAMi or Volcano. 0 counts as unset, as in both schedulers. */
export interface VgpuAmounts {
  readonly memoryMiB?: number;
  /** Percent of the GPU's memory; used if `memoryMiB` is not set. */
  readonly memoryPercent?: number;
  /** Percent of the GPU's compute. */
  readonly coresPercent?: number;
}

/**
 * Returns the share of one GPU that a vGPU has: `max(cores %, memory / physical memory)`. With unset cores, memory alone counts. Unset
 * memory is all of it, as HAMi and Volcano allocate it. If the physical memory is unknown, set cores alone count.
 */
export function vgpuShare(amounts: VgpuAmounts, gpu: GpuMemory | undefined): MemoryShare {
  const { coresPercent = 0 } = amounts;
  const memory = memoryOf(amounts, gpu);
  if (coresPercent === 0) return memory;
  const share = rational(coresPercent, 100);
  const coresCount = memory.assumption === "gpu-memory-unknown" || compare(share, memory.share) >= 0;
  return coresCount ? { ...memory, share } : memory;
}

function memoryOf({ memoryMiB = 0, memoryPercent = 0 }: VgpuAmounts, gpu: GpuMemory | undefined): MemoryShare {
  if (memoryMiB !== 0) return memoryShare(memoryMiB, gpu);
  return { share: memoryPercent === 0 ? ONE : rational(memoryPercent, 100) };
}
