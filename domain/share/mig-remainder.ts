import { compare, ONE, subtract, ZERO, type Rational } from "../exact/rational.ts";
import { migShare, type MigMeasure, type MigShape } from "./mig-shape.ts";
import type { MigProduct } from "./mig-table.ts";
import { scaledToOne, sumOf } from "./scale.ts";

/** A GPU in MIG mode, cut into its instances and a remainder. The scaled shares and the remainder add up to 1. */
export interface MigSplit {
  /** One entry for each created instance, in order. */
  readonly instances: readonly {
    /** The share by its profile. */
    readonly raw: Rational;
    /** The same, divided by the sum if the created instances add up to more than 1. */
    readonly share: Rational;
  }[];
  /** 1 − the sum of the created instances' shares. */
  readonly remainder: Rational;
  /**
   * The state of the remainder: unavailable if there is no instance; unallocated while one more profile fits; otherwise stranded. Without a
   * remainder it has no meaning.
   */
  readonly remainderIs: "unavailable" | "unallocated" | "stranded";
}

/** Splits a GPU into its created instances in a policy's measure. */
export function splitMig(product: MigProduct, created: readonly MigShape[], measure: MigMeasure): MigSplit {
  const raws = created.map((shape) => migShare(shape, product, measure));
  const shares = scaledToOne(raws);
  const left = subtract(ONE, sumOf(shares));
  return {
    instances: shares.map((share, index) => ({ raw: raws[index] ?? ZERO, share })),
    remainder: compare(left, ZERO) > 0 ? left : ZERO,
    remainderIs: created.length === 0 ? "unavailable" : fitsOneMore(product, created) ? "unallocated" : "stranded",
  };
}

/**
 * Returns whether one more instance of any profile fits beside the created ones, by compute slices, memory slices and the profile's maximum
 * together. The positions of the created instances are unknown. They are assumed to leave the most room. The hardware decides, whatever the
 * measure of the policy.
 */
export function fitsOneMore(product: MigProduct, created: readonly MigShape[]): boolean {
  let [compute, memory] = [product.computeSlices, product.memorySlices];
  for (const { computeSlices, memorySlices } of created) {
    compute -= computeSlices;
    memory -= memorySlices;
  }
  return product.profiles.some(
    (profile) =>
      profile.computeSlices <= compute &&
      profile.memorySlices <= memory &&
      created.filter((shape) => isOf(shape, profile)).length < profile.mostInstances,
  );
}

function isOf(one: MigShape, other: MigShape): boolean {
  return one.computeSlices === other.computeSlices && one.memorySlices === other.memorySlices;
}
