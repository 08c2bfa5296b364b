/** A model of GPU, with the values of its data sheet that telemetry shows. */
export interface GpuModel {
  readonly vendor: "nvidia" | "amd";
  /** The name from the driver. */
  readonly name: string;
  readonly memoryMib: number;
  /** Reserved by driver and firmware. */
  readonly reservedMib: number;
  readonly idleWatts: number;
  readonly maxWatts: number;
  readonly idleSmMhz: number;
  readonly maxSmMhz: number;
  readonly memoryMhz: number;
  /** False for GDDR boards, which have no temperature of their memory: they report 0. */
  readonly hasMemoryTemperature: boolean;
  readonly hasNvlink: boolean;
  readonly instanceType: string;
}

function nvidia(
  name: string,
  [memoryMib, reservedMib]: readonly [number, number],
  [idleWatts, maxWatts]: readonly [number, number],
  [idleSmMhz, maxSmMhz, memoryMhz]: readonly [number, number, number],
  instanceType: string,
  hbm = false,
  hasNvlink = false,
): GpuModel {
  return {
    vendor: "nvidia",
    name,
    memoryMib,
    reservedMib,
    idleWatts,
    maxWatts,
    idleSmMhz,
    maxSmMhz,
    memoryMhz,
    hasMemoryTemperature: hbm,
    hasNvlink,
    instanceType,
  };
}

/** The GPUs of the demo fleet, by a short name. */
export const GPU_MODELS = {
  h100: nvidia("NVIDIA H100 80GB HBM3", [81_559, 559], [72, 700], [345, 1980, 2619], "p5.48xlarge", true, true),
  a100: nvidia("NVIDIA A100-SXM4-80GB", [81_920, 694], [58, 400], [210, 1410, 1593], "p4de.24xlarge", true, true),
  a100small: nvidia("NVIDIA A100-SXM4-40GB", [40_960, 623], [52, 400], [210, 1410, 1215], "p4d.24xlarge", true, true),
  v100: nvidia("Tesla V100-SXM2-32GB", [32_768, 272], [41, 300], [135, 1530, 877], "p3dn.24xlarge", true, true),
  l40s: nvidia("NVIDIA L40S", [46_068, 586], [34, 350], [210, 2520, 9001], "g6e.12xlarge"),
  l4: nvidia("NVIDIA L4", [23_034, 470], [16, 72], [210, 2040, 6251], "g6.12xlarge"),
  a10: nvidia("NVIDIA A10G", [23_028, 482], [17, 300], [210, 1710, 6251], "g5.12xlarge"),
  t4: nvidia("Tesla T4", [15_360, 447], [10, 70], [300, 1590, 5001], "g4dn.12xlarge"),
  a6000: nvidia("NVIDIA RTX A6000", [49_140, 456], [22, 300], [210, 1800, 8001], "workstation"),
  mi300x: {
    vendor: "amd",
    name: "AMD Instinct MI300X OAM",
    memoryMib: 196_592,
    reservedMib: 284,
    idleWatts: 138,
    maxWatts: 750,
    idleSmMhz: 132,
    maxSmMhz: 2100,
    memoryMhz: 1300,
    hasMemoryTemperature: true,
    hasNvlink: false,
    instanceType: "ND96isr_MI300X_v5",
  },
} as const satisfies Readonly<Record<string, GpuModel>>;

/** A profile of MIG instances and the position of each on one GPU. */
export interface MigInstance {
  readonly id: number;
  readonly profile: string;
  /** The number of compute slices, of seven. */
  readonly slices: number;
  readonly memoryMib: number;
}

const instance = (id: number, profile: string, slices: number, memoryMib: number): MigInstance => ({
  id,
  profile,
  slices,
  memoryMib,
});

/** The MIG layout of one GPU; `undefined` if MIG is off, empty if MIG is on without instances. */
export type MigLayout = readonly MigInstance[] | undefined;

/** The layouts of an A100 40GB node, GPU by GPU: both mixed and even cuts, one left empty, one whole. */
export const A100_LAYOUTS: readonly MigLayout[] = [
  [
    instance(2, "3g.20gb", 3, 19_968),
    instance(3, "2g.10gb", 2, 9856),
    instance(9, "1g.5gb", 1, 4864),
    instance(10, "1g.5gb", 1, 4864),
  ],
  [7, 8, 9, 10, 11, 12, 13].map((id) => instance(id, "1g.5gb", 1, 4864)),
  [],
  undefined,
];

/** The layouts of an H100 80GB node. */
export const H100_LAYOUTS: readonly MigLayout[] = [
  [instance(1, "3g.40gb", 3, 40_448), instance(2, "3g.40gb", 3, 40_448), instance(13, "1g.10gb", 1, 9984)],
  [
    instance(2, "3g.40gb", 3, 40_448),
    instance(3, "2g.20gb", 2, 20_096),
    instance(9, "1g.10gb+me", 1, 9984),
    instance(10, "1g.10gb", 1, 9984),
  ],
  undefined,
  undefined,
];
