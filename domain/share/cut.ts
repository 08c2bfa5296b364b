import { ONE, rational, ZERO, type Rational } from "../exact/rational.ts";
import type { GpuAt, MigInstance } from "./layout.ts";
import { migProductOf } from "./mig-product.ts";
import { splitMig, type MigSplit } from "./mig-remainder.ts";
import { migShapeOf, type MigAssumption, type MigMeasure } from "./mig-shape.ts";

/** A part of a GPU that can be held: the whole GPU, a MIG instance, or a partition. */
export interface Part {
  /** Empty for the whole GPU. */
  readonly id: string;
  /** The share of the GPU by its profile or the number of partitions. */
  readonly raw: Rational;
  /** The same, scaled if the created instances add up to more than 1. */
  readonly share: Rational;
  /** 1 if it is not shared. */
  readonly replicas: number;
}

/** A GPU cut into its parts. */
export interface CutGpu {
  /** Returns the part with this name; without a name, the whole GPU; undefined if the GPU has no such part. */
  part(id?: string): Part | undefined;
  /** The share that is in none of the parts. */
  readonly remainder: Rational;
  readonly remainderIs: MigSplit["remainderIs"];
  /** The assumptions by instance number. */
  readonly assumptions: readonly { readonly instance: string; readonly assumption: MigAssumption }[];
}

const WHOLE: CutGpu = {
  part: (id) => (id === undefined ? wholeOf(1) : undefined),
  remainder: ZERO,
  remainderIs: "unallocated",
  assumptions: [],
};

/** Returns the parts of a GPU by its layout. MIG instances use the policy's measure. Each AMD partition is 1 / partitions. */
export function cutGpu(gpu: GpuAt, measure: MigMeasure): CutGpu {
  const { layout } = gpu;
  switch (layout.kind) {
    case "whole":
      return WHOLE;
    case "shared":
      return { ...WHOLE, part: (id) => (id === undefined ? wholeOf(layout.replicas) : undefined) };
    case "partitions": {
      const share = rational(1, layout.count);
      return { ...WHOLE, part: (id) => (id === undefined ? wholeOf(1) : { id, raw: share, share, replicas: 1 }) };
    }
    case "mig":
      return cutIntoInstances(gpu, layout.instances, measure);
  }
}

function cutIntoInstances(gpu: GpuAt, listed: readonly MigInstance[], measure: MigMeasure): CutGpu {
  const instances = listed.filter(({ id }, index) => listed.findIndex((other) => other.id === id) === index);
  const found = migProductOf(gpu.model, gpu.memoryMiB);
  const shapes = instances.map(({ profile }) => migShapeOf(profile, found));
  const split = splitMig(found.product, shapes, measure);
  const parts = new Map<string, Part>();
  const assumptions: { instance: string; assumption: MigAssumption }[] = [];
  for (const [index, { id, replicas = 1 }] of instances.entries()) {
    const { raw, share } = split.instances[index] ?? { raw: ZERO, share: ZERO };
    parts.set(id, { id, raw, share, replicas });
    const assumption = shapes[index]?.assumption;
    if (assumption !== undefined) assumptions.push({ instance: id, assumption });
  }
  return { ...split, part: (id) => (id === undefined ? wholeOf(1) : parts.get(id)), assumptions };
}

function wholeOf(replicas: number): Part {
  return { id: "", raw: ONE, share: ONE, replicas };
}
