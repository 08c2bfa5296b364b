import { assumedProduct, MIG_PRODUCTS, type MigProduct } from "./mig-table.ts";

/** The largest deviation of a measured memory from a product's nominal memory: 81,559 MiB match an H100 of 80 GB. */
const MEMORY_TOLERANCE = 0.05;
const MIB_IN_GB = 1024;

/** A product, and whether it was found in the table. */
export interface FoundProduct {
  readonly product: MigProduct;
  /** The model is not in the table. 7 compute and 8 memory slices are assumed. */
  readonly isAssumed: boolean;
}

/**
 * Returns the product of a GPU by its model name, as DCGM (`NVIDIA A100-SXM4-40GB`), GFD (`NVIDIA-A100-SXM4-40GB`, with or without its
 * suffixes `-SHARED` and `-MIG-1g.5gb`) or a DRA driver writes it. If the name fits several products of a model, the memory in MiB decides.
 * An unknown GPU is taken as 7 compute and 8 memory slices of its memory.
 */
export function migProductOf(model: string | undefined, memoryMiB?: number): FoundProduct {
  const words = wordsOf(model ?? "");
  const product = namedBy(words) ?? measuredBy(words, memoryMiB);
  if (product !== undefined) return { product, isAssumed: false };
  const memoryGb = memoryMiB === undefined ? gigabytesIn(words) : memoryMiB / MIB_IN_GB;
  return { product: assumedProduct(memoryGb), isAssumed: true };
}

/**
 * Returns a GPU's memory in MiB by its model's name, for a GPU without measurements. This is the nominal memory; the real one is a little
 * smaller. Undefined if the name has no memory.
 */
export function nominalMemoryMiB(model: string | undefined): number | undefined {
  const words = wordsOf(model ?? "");
  const memoryGb = namedBy(words)?.memoryGb ?? gigabytesIn(words);
  return memoryGb === undefined ? undefined : memoryGb * MIB_IN_GB;
}

function wordsOf(model: string): readonly string[] {
  const own = model.toUpperCase().replace(/[- ]MIG[- ].*$/, "");
  return own.split(/[^A-Z0-9]+/).filter((word) => word !== "");
}

function namedBy(words: readonly string[]): MigProduct | undefined {
  return ofModel(words).find(({ variants }) => variants.length === 0 || variants.some((word) => words.includes(word)));
}

function measuredBy(words: readonly string[], memoryMiB: number | undefined): MigProduct | undefined {
  if (memoryMiB === undefined || gigabytesIn(words) !== undefined) return undefined;
  const distance = ({ memoryGb = 0 }: MigProduct): number => Math.abs(memoryMiB / (memoryGb * MIB_IN_GB) - 1);
  const [nearest] = ofModel(words).toSorted((a, b) => distance(a) - distance(b));
  return nearest !== undefined && distance(nearest) <= MEMORY_TOLERANCE ? nearest : undefined;
}

function ofModel(words: readonly string[]): readonly MigProduct[] {
  return MIG_PRODUCTS.filter(({ model }) => model.every((word) => words.includes(word)));
}

function gigabytesIn(words: readonly string[]): number | undefined {
  const found = words.find((word) => /^[1-9]\d{0,3}GB?$/.test(word));
  return found === undefined ? undefined : Number.parseInt(found, 10);
}
