import { ONE, rational, type Rational } from "../exact/rational.ts";

/** The GPUs of a cloud's machine. */
export interface InstanceGpus {
  readonly model: string;
  /** The number of GPUs, or of parts of one. */
  readonly count: number;
}

/** An instance type with its GPU count. With `ofParts` the machine has one of that many equal parts of a GPU, which it shows as a GPU. */
type Type = readonly [type: string, count: number, ofParts?: number];
type Row = readonly [model: string, ...types: readonly Type[]];

const each = (prefix: string, count: number, ...sizes: readonly string[]): readonly (readonly [string, number])[] =>
  sizes.map((size) => [`${prefix}${size}`, count]);

/** EC2: https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html */
const AWS: readonly Row[] = [
  ["K80", ["p2.xlarge", 1], ["p2.8xlarge", 8], ["p2.16xlarge", 16]],
  ["V100-16GB", ["p3.2xlarge", 1], ["p3.8xlarge", 4], ["p3.16xlarge", 8]],
  ["V100-32GB", ["p3dn.24xlarge", 8]],
  ["A100-40GB", ["p4d.24xlarge", 8]],
  ["A100-80GB", ["p4de.24xlarge", 8]],
  ["H100", ["p5.4xlarge", 1], ["p5.48xlarge", 8]],
  ["H200", ["p5e.48xlarge", 8], ["p5en.48xlarge", 8]],
  ["B200", ["p6-b200.48xlarge", 8]],
  ["B300", ["p6-b300.48xlarge", 8]],
  ["GB200", ["p6e-gb200.36xlarge", 4]],
  ["M60", ...each("g3", 1, "s.xlarge", ".4xlarge"), ["g3.8xlarge", 2], ["g3.16xlarge", 4]],
  ["Radeon-Pro-V520", ...each("g4ad.", 1, "xlarge", "2xlarge", "4xlarge"), ["g4ad.8xlarge", 2], ["g4ad.16xlarge", 4]],
  [
    "T4",
    ...each("g4dn.", 1, "xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge"),
    ["g4dn.12xlarge", 4],
    ["g4dn.metal", 8],
  ],
  [
    "A10G",
    ...each("g5.", 1, "xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge"),
    ...each("g5.", 4, "12xlarge", "24xlarge"),
    ["g5.48xlarge", 8],
  ],
  ["T4G", ...each("g5g.", 1, "xlarge", "2xlarge", "4xlarge", "8xlarge"), ...each("g5g.", 2, "16xlarge", "metal")],
  [
    "L4",
    ...each("g6.", 1, "xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge"),
    ...each("gr6.", 1, "4xlarge", "8xlarge"),
    ...each("g6.", 4, "12xlarge", "24xlarge"),
    ["g6.48xlarge", 8],
    ["g6f.large", 1, 8],
    ["g6f.xlarge", 1, 8],
    ["g6f.2xlarge", 1, 4],
    ["g6f.4xlarge", 1, 2],
    ["gr6f.4xlarge", 1, 2],
  ],
  [
    "L40S",
    ...each("g6e.", 1, "xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge"),
    ...each("g6e.", 4, "12xlarge", "24xlarge"),
    ["g6e.48xlarge", 8],
  ],
  [
    "RTX-PRO-6000",
    ...each("g7e.", 1, "2xlarge", "4xlarge", "8xlarge"),
    ["g7e.12xlarge", 2],
    ["g7e.24xlarge", 4],
    ["g7e.48xlarge", 8],
  ],
];

/** Compute Engine: https://cloud.google.com/compute/docs/gpus */
const GCP: readonly Row[] = [
  ["A100-40GB", ...[1, 2, 4, 8].map((n) => [`a2-highgpu-${n}g`, n] as const), ["a2-megagpu-16g", 16]],
  ["A100-80GB", ...[1, 2, 4, 8].map((n) => [`a2-ultragpu-${n}g`, n] as const)],
  ["H100", ...[1, 2, 4, 8].map((n) => [`a3-highgpu-${n}g`, n] as const), ...each("a3-", 8, "megagpu-8g", "edgegpu-8g")],
  ["H200", ["a3-ultragpu-8g", 8]],
  ["B200", ["a4-highgpu-8g", 8]],
  ["GB200", ["a4x-highgpu-4g", 4]],
  ["GB300", ["a4x-maxgpu-4g-metal", 4]],
  [
    "L4",
    ...each("g2-standard-", 1, "4", "8", "12", "16", "32"),
    ["g2-standard-24", 2],
    ["g2-standard-48", 4],
    ["g2-standard-96", 8],
  ],
  [
    "RTX-PRO-6000",
    ["g4-standard-6", 1, 8],
    ["g4-standard-12", 1, 4],
    ["g4-standard-24", 1, 2],
    ["g4-standard-48", 1],
    ["g4-standard-96", 2],
    ["g4-standard-192", 4],
    ["g4-standard-384", 8],
  ],
];

/** Azure: https://learn.microsoft.com/azure/virtual-machines/sizes/overview#gpu-accelerated */
const AZURE: readonly Row[] = [
  ["V100-16GB", ["NC6s_v3", 1], ["NC12s_v3", 2], ...each("NC24", 4, "s_v3", "rs_v3")],
  ["V100-32GB", ["ND40rs_v2", 8]],
  ["T4", ...each("NC", 1, "4as_T4_v3", "8as_T4_v3", "16as_T4_v3"), ["NC64as_T4_v3", 4]],
  ["A100-80GB-PCIe", ["NC24ads_A100_v4", 1], ["NC48ads_A100_v4", 2], ["NC96ads_A100_v4", 4]],
  ["A100-40GB", ["ND96asr_v4", 8]],
  ["A100-80GB", ["ND96amsr_A100_v4", 8]],
  [
    "A10",
    ["NV6ads_A10_v5", 1, 6],
    ["NV12ads_A10_v5", 1, 3],
    ["NV18ads_A10_v5", 1, 2],
    ...each("NV36ad", 1, "s_A10_v5", "ms_A10_v5"),
    ["NV72ads_A10_v5", 2],
  ],
  ["H100-NVL", ...each("N", 1, "C40ads_H100_v5", "CC40ads_H100_v5"), ["NC80adis_H100_v5", 2]],
  ["H100", ["ND96isr_H100_v5", 8]],
  ["H200", ["ND96isr_H200_v5", 8]],
  ["MI300X", ["ND96isr_MI300X_v5", 8]],
  ["GB200", ["ND128isr_NDR_GB200_v6", 4]],
  ["GB300", ["ND128isr_GB300_v6", 4]],
];

/** Oracle: https://docs.oracle.com/iaas/Content/Compute/References/computeshapes.htm */
const ORACLE: readonly Row[] = [
  ["P100", ["VM.GPU2.1", 1], ["BM.GPU2.2", 2]],
  ["V100-16GB", ["VM.GPU3.1", 1], ["VM.GPU3.2", 2], ["VM.GPU3.4", 4], ["BM.GPU3.8", 8]],
  ["A100-40GB", ["BM.GPU4.8", 8]],
  ["A100-80GB", ["BM.GPU.A100-v2.8", 8]],
  ["A10", ["VM.GPU.A10.1", 1], ["VM.GPU.A10.2", 2], ["BM.GPU.A10.4", 4]],
  ["L40S", ["BM.GPU.L40S.4", 4], ["BM.GPU.L40S-NC.4", 4]],
  ["H100", ["BM.GPU.H100.8", 8]],
  ["H200", ["BM.GPU.H200.8", 8]],
  ["B200", ["BM.GPU.B200.8", 8]],
  ["GB200", ["BM.GPU.GB200.4", 4]],
  ["MI300X", ["BM.GPU.MI300X.8", 8]],
];

const BY_TYPE = new Map(
  [...AWS, ...GCP, ...AZURE, ...ORACLE].flatMap(([model, ...types]) =>
    types.map(([type, count, ofParts]) => [type.toLowerCase(), { model, count, ofParts }] as const),
  ),
);

const AWS_FAMILIES = new Set(AWS.flatMap(([, ...types]) => types.map(([type]) => type.split(".")[0]!)));

/** True if EC2's instance types of this family have GPUs: `p5`, `g6e`. Case does not count. */
export function isGpuFamily(family: string): boolean {
  return AWS_FAMILIES.has(family.toLowerCase());
}

/**
 * Returns the GPUs of a public cloud's instance type, as the label `node.kubernetes.io/instance-type` writes it; undefined for an unknown
 * type and for a type without GPUs.
 */
export function gpusOfInstanceType(type: string): InstanceGpus | undefined {
  const known = typeOf(type);
  return known && { model: known.model, count: known.count };
}

/**
 * Returns the part of a physical GPU that each GPU of an instance type is: 1/4 for `g6f.2xlarge`, which has 5,722 of the 22,888 MiB of an
 * L4. 1 for an unknown type and for a type with whole GPUs.
 */
export function gpuPartOf(type: string | undefined): Rational {
  const ofParts = type === undefined ? undefined : typeOf(type)?.ofParts;
  return ofParts === undefined ? ONE : rational(1, ofParts);
}

function typeOf(type: string): (InstanceGpus & { readonly ofParts: number | undefined }) | undefined {
  return BY_TYPE.get(type.toLowerCase().replace(/^standard_/, ""));
}
