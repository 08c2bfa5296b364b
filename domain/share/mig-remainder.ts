import { compare, ONE, subtract, ZERO, type Rational } from "../exact/rational.ts";
import { migShare, type MigMeasure, type MigShape } from "./mig-shape.ts";
import type { MigProduct } from "./mig-table.ts";
import { scaledToOne, sumOf } from "./scale.ts";

/** A GPU in MIG mode, cut into its instances and what is left of it: the scaled shares and the remainder add up to 1. */
export interface MigSplit {
  /** Of each created instance, in their order. */
  readonly instances: readonly {
    /** Of its profile. */
    readonly raw: Rational;
    /** The same, divided by the sum where the created instances add up to more than 1. */
    readonly share: Rational;
  }[];
  /** 1 − the sum of the created instances' shares. */
  readonly remainder: Rational;
  /**
   * What the remainder is: unavailable where there is no instance; unallocated while one more profile fits; else stranded.
   * Without a remainder the word says nothing.
   */
  readonly remainderIs: "unavailable" | "unallocated" | "stranded";
}

/** How the created instances split a GPU in a policy's measure (ledger, "Shares", MIG instance). */
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
 * Whether one more instance of any profile fits beside the created ones: by compute slices, memory slices and the profile's
 * maximum together. Where the created ones lie is not known: they are taken to lie where they leave most room. Whatever the
 * measure of the policy, it is the hardware that decides.
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
