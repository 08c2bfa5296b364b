/** A kind of MIG instance that a product supports, in slices of the product. */
export interface MigProfile {
  /** NVIDIA's name without a suffix: `1g.10gb`. The profiles of an unknown product have no memory in their names. */
  readonly name: string;
  readonly computeSlices: number;
  readonly memorySlices: number;
  /** The most instances of this kind on one GPU, with any suffix. */
  readonly mostInstances: number;
}

/** A GPU that supports MIG. The same profile name has different shapes on different products. */
export interface MigProduct {
  /** Model and memory: `A100-40`. */
  readonly name: string;
  /** The memory in the GB of the profiles' names; absent for an unknown product without a known memory. */
  readonly memoryGb?: number;
  /** Compute slices of the whole GPU. */
  readonly computeSlices: number;
  /** Memory slices of the whole GPU. */
  readonly memorySlices: number;
  readonly profiles: readonly MigProfile[];
  /** The words that a model's name must have. */
  readonly model: readonly string[];
  /** The words of which the name must have one; empty if the model alone identifies the product. */
  readonly variants: readonly string[];
}

/** For each profile: compute slices, memory slices, most instances. The second `1g` has twice the memory. */
type Shapes = readonly (readonly [computeSlices: number, memorySlices: number, mostInstances: number])[];

const SEVEN: Shapes = [
  [1, 1, 7],
  [1, 2, 4],
  [2, 2, 3],
  [3, 4, 2],
  [4, 4, 1],
  [7, 8, 1],
];

const TWO: Shapes = [
  [1, 1, 2],
  [2, 2, 1],
];

const FOUR: Shapes = [
  [1, 1, 4],
  [2, 2, 2],
  [4, 4, 1],
];

/**
 * The products that support MIG, with the figures of NVIDIA's MIG User Guide ("Supported MIG Profiles",
 * https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html). The 480 and 120 GB in the name of a GH200 are the
 * CPU's memory: both machines have 96 GB of GPU memory.
 */
export const MIG_PRODUCTS: readonly MigProduct[] = [
  product("A30", FOUR, [6, 12, 24], ["A30"]),
  product("A100-40", SEVEN, [5, 10, 10, 20, 20, 40], ["A100"], ["40GB"]),
  product("A100-80", SEVEN, [10, 20, 20, 40, 40, 80], ["A100"], ["80GB"]),
  product("H100-80", SEVEN, [10, 20, 20, 40, 40, 80], ["H100"], ["80GB", "PCIE"]),
  product("H100-94", SEVEN, [12, 24, 24, 47, 47, 94], ["H100"], ["94GB", "NVL"]),
  product("H100-96", SEVEN, [12, 24, 24, 48, 48, 96], ["H100"], ["96GB"]),
  product("H20-96", SEVEN, [12, 24, 24, 48, 48, 96], ["H20"]),
  product("GH200-96", SEVEN, [12, 24, 24, 48, 48, 96], ["GH200"], ["96GB", "480GB", "120GB"]),
  product("GH200-144", SEVEN, [18, 36, 36, 72, 72, 144], ["GH200"], ["144G", "144GB"]),
  product("H200-141", SEVEN, [18, 35, 35, 71, 71, 141], ["H200"]),
  product("B200-180", SEVEN, [23, 45, 45, 90, 90, 180], ["B200"]),
  product("GB200-186", SEVEN, [23, 47, 47, 93, 93, 186], ["GB200"]),
  product("B300-269", SEVEN, [34, 67, 67, 135, 135, 269], ["B300"]),
  product("GB300-278", SEVEN, [35, 70, 70, 139, 139, 278], ["GB300"]),
  product("RTX-PRO-6000", FOUR, [24, 48, 96], ["RTX", "PRO", "6000"]),
  product("RTX-PRO-5000", TWO, [24, 48], ["RTX", "PRO", "5000"]),
  product("RTX-PRO-4500", TWO, [16, 32], ["RTX", "PRO", "4500"]),
];

/**
 * Returns the assumed product for a GPU in MIG mode that is not in the table: 7 compute and 8 memory slices, as on all but the smallest
 * products.
 */
export function assumedProduct(memoryGb: number | undefined): MigProduct {
  return {
    name: "",
    ...(memoryGb === undefined ? {} : { memoryGb }),
    computeSlices: 7,
    memorySlices: 8,
    profiles: profilesOf(SEVEN, []),
    model: [],
    variants: [],
  };
}

function product(
  name: string,
  shapes: Shapes,
  memoriesGb: readonly number[],
  model: readonly string[],
  variants: readonly string[] = [],
): MigProduct {
  const profiles = profilesOf(shapes, memoriesGb);
  const [computeSlices, memorySlices] = shapes.at(-1) ?? [0, 0];
  return { name, memoryGb: memoriesGb.at(-1) ?? 0, computeSlices, memorySlices, profiles, model, variants };
}

function profilesOf(shapes: Shapes, memoriesGb: readonly number[]): readonly MigProfile[] {
  return shapes.map(([computeSlices, memorySlices, mostInstances], index) => {
    const memoryGb = memoriesGb[index];
    const name = memoryGb === undefined ? `${computeSlices}g` : `${computeSlices}g.${memoryGb}gb`;
    return { name, computeSlices, memorySlices, mostInstances };
  });
}
