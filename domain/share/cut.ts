import { ONE, rational, ZERO, type Rational } from "../exact/rational.ts";
import type { GpuAt, MigInstance } from "./layout.ts";
import { migProductOf } from "./mig-product.ts";
import { splitMig, type MigSplit } from "./mig-remainder.ts";
import { migShapeOf, type MigAssumption, type MigMeasure } from "./mig-shape.ts";

/** What can be held of a GPU: the whole of it, a MIG instance, a partition. */
export interface Part {
  /** Empty for the whole GPU. */
  readonly id: string;
  /** Of the GPU, by profile or number of partitions. */
  readonly raw: Rational;
  /** The same, scaled where the created instances add up to more than 1. */
  readonly share: Rational;
  /** 1 where it is not shared. */
  readonly replicas: number;
}

/** A GPU cut into its parts. */
export interface CutGpu {
  /** The part of this name; the whole GPU without a name; undefined where the GPU has no such part. */
  part(id?: string): Part | undefined;
  /** What is in none of the parts. */
  readonly remainder: Rational;
  readonly remainderIs: MigSplit["remainderIs"];
  /** By the instance's number. */
  readonly assumptions: readonly { readonly instance: string; readonly assumption: MigAssumption }[];
}

const WHOLE: CutGpu = {
  part: (id) => (id === undefined ? wholeOf(1) : undefined),
  remainder: ZERO,
  remainderIs: "unallocated",
  assumptions: [],
};

/** The parts of a GPU by its layout, MIG instances in the policy's measure; AMD's partitions have 1 / partitions each. */
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
