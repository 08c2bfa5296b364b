import { compare, rational, type Rational } from "../exact/rational.ts";
import { isSameProfile } from "../mig-profile.ts";
import type { FoundProduct } from "./mig-product.ts";
import type { MigProduct } from "./mig-table.ts";

/** What a policy counts of a MIG instance: its compute, its memory, or whichever is the larger part of the GPU. */
export type MigMeasure = "max" | "compute" | "memory";

/**
 * What had to be assumed of an instance, the strongest first: that its profile, which cannot be read, is one slice of each;
 * that its model, which is not known, has 7 compute and 8 memory slices; that its profile, which its model is not known to
 * have, has the memory slices that its name's memory is of the GPU's.
 */
export type MigAssumption = "mig-profile-unreadable" | "mig-model" | "mig-profile";

/** The slices of an instance. */
export interface MigShape {
  readonly computeSlices: number;
  readonly memorySlices: number;
  /** Absent where model and profile are of the table. */
  readonly assumption?: MigAssumption;
}

const PROFILE = /^(?:mig[- ])?(?:\d+c\.)?([1-9]\d?)g(?:\.(\d{1,4})gb)?(?![a-z0-9])/i;

/**
 * The slices of an instance by its profile as a resource, `GPU_I_PROFILE` or a DRA attribute writes it. A suffix (`+me`, `.me`,
 * `-me`, `+gfx`, `+me.all`) and a compute instance's prefix (`1c.`) keep the shape; names that round the memory otherwise
 * (`7g.79gb`) are the profile that they mean.
 */
export function migShapeOf(profile: string | undefined, { product, isAssumed }: FoundProduct): MigShape {
  const match = PROFILE.exec(profile ?? "");
  if (match === null) return { computeSlices: 1, memorySlices: 1, assumption: "mig-profile-unreadable" };
  const [, compute = "", memoryGb] = match;
  const asNamed = memoryGb === undefined ? `${compute}g` : `${compute}g.${memoryGb}gb`;
  const known = isAssumed ? undefined : product.profiles.find(({ name }) => isSameProfile(name, asNamed));
  if (known !== undefined) return { computeSlices: known.computeSlices, memorySlices: known.memorySlices };
  const computeSlices = Math.min(Number(compute), product.computeSlices);
  return {
    computeSlices,
    memorySlices: memorySlicesOf(product, computeSlices, memoryGb),
    assumption: isAssumed ? "mig-model" : "mig-profile",
  };
}

/**
 * An instance's share of its GPU in a policy's measure: `max(compute slices / total, memory slices / total)`, or one of the two
 * (ledger, "Shares").
 */
export function migShare(shape: MigShape, product: MigProduct, measure: MigMeasure): Rational {
  const compute = rational(shape.computeSlices, product.computeSlices);
  const memory = rational(shape.memorySlices, product.memorySlices);
  if (measure === "compute") return compute;
  if (measure === "memory") return memory;
  return compare(compute, memory) >= 0 ? compute : memory;
}

/** By the memory in the name where the GPU's is known; else those of the first profile with so much compute. */
function memorySlicesOf(product: MigProduct, computeSlices: number, memoryGb: string | undefined): number {
  if (memoryGb !== undefined && product.memoryGb !== undefined) {
    const slices = Math.round((Number(memoryGb) * product.memorySlices) / product.memoryGb);
    return Math.min(Math.max(slices, 1), product.memorySlices);
  }
  const plain = product.profiles.find((profile) => profile.computeSlices >= computeSlices);
  return plain?.memorySlices ?? product.memorySlices;
}
