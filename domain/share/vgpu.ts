import { compare, ONE, rational } from "../exact/rational.ts";
import { memoryShare, type GpuMemory, type MemoryShare } from "./gpu-memory.ts";

/** What a pod has of one GPU by HAMi or Volcano; 0 is as good as unset, as both schedulers have it. */
export interface VgpuAmounts {
  readonly memoryMiB?: number;
  /** Of the GPU's memory; speaks where `memoryMiB` does not. */
  readonly memoryPercent?: number;
  /** Of the GPU's compute. */
  readonly coresPercent?: number;
}

/**
 * The share of one GPU that a vGPU has: `max(cores %, memory / physical memory)`; unset cores count as memory alone (ledger,
 * "Shares"). Unset memory is all of it, as HAMi and Volcano allocate it. Where the physical memory is not known, set cores count
 * alone.
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
