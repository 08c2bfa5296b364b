import { compare, rational, type Rational } from "../exact/rational.ts";
import { isSameProfile } from "../mig-profile.ts";
import type { FoundProduct } from "./mig-product.ts";
import type { MigProduct } from "./mig-table.ts";

/** The measure of a MIG instance in a policy: its compute part of the GPU, its memory part, or the larger of the two. */
export type MigMeasure = "max" | "compute" | "memory";

/**
 * An assumption about an instance, strongest first. `mig-profile-unreadable`: the profile is taken as one slice of each. `mig-model`: the
 * unknown model is taken as 7 compute and 8 memory slices. `mig-profile`: the model does not list the profile, so the memory in the
 * profile's name gives the memory slices.
 */
export type MigAssumption = "mig-profile-unreadable" | "mig-model" | "mig-profile";

/** The slices of an instance. */
export interface MigShape {
  readonly computeSlices: number;
  readonly memorySlices: number;
  /** Absent if the model and the profile are in the table. */
  readonly assumption?: MigAssumption;
}

const PROFILE = /^(?:mig[- ])?(?:\d+c\.)?([1-9]\d?)g(?:\.(\d{1,4})gb)?(?![a-z0-9])/i;

/**
 * Returns the slices of an instance by its profile, as a resource, `GPU_I_PROFILE` or a DRA attribute writes it. A suffix (`+me`, `.me`,
 * `-me`, `+gfx`, `+me.all`) and the prefix of a compute instance (`1c.`) do not change the shape. Names with a differently rounded memory
 * (`7g.79gb`) match the profile that they mean.
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
 * Returns an instance's share of its GPU in a policy's measure: `max(compute slices / total, memory slices / total)`, or one of the two
 * (docs/policies.md).
 */
export function migShare(shape: MigShape, product: MigProduct, measure: MigMeasure): Rational {
  const compute = rational(shape.computeSlices, product.computeSlices);
  const memory = rational(shape.memorySlices, product.memorySlices);
  if (measure === "compute") return compute;
  if (measure === "memory") return memory;
  return compare(compute, memory) >= 0 ? compute : memory;
}

/**
 * Returns the memory slices by the memory in the name, if the GPU's memory is known; otherwise those of the first profile with at least as
 * many compute slices.
 */
function memorySlicesOf(product: MigProduct, computeSlices: number, memoryGb: string | undefined): number {
  if (memoryGb !== undefined && product.memoryGb !== undefined) {
    const slices = Math.round((Number(memoryGb) * product.memorySlices) / product.memoryGb);
    return Math.min(Math.max(slices, 1), product.memorySlices);
  }
  const plain = product.profiles.find((profile) => profile.computeSlices >= computeSlices);
  return plain?.memorySlices ?? product.memorySlices;
}
