/** The vendor of a known GPU model. */
export type ModelVendor = "nvidia" | "amd" | "intel";

/** A GPU model with its names. */
export interface GpuModel {
  readonly vendor: ModelVendor;
  /** The name in reports: the name of NVIDIA's GFD, or of the vendor's driver, with `-` between its words. */
  readonly name: string;
  /** Memory of one GPU in GB. It distinguishes models with the same short name. */
  readonly memoryGb: number;
  /** Other names: the clouds' short ones. Several models can have the same alias. */
  readonly aliases: readonly string[];
}

const of =
  (vendor: ModelVendor) =>
  (name: string, memoryGb: number, ...aliases: readonly string[]): GpuModel => ({ vendor, name, memoryGb, aliases });
const nvidia = of("nvidia");
const amd = of("amd");
const intel = of("intel");

/**
 * The models that are known under several names. If several models share a short name and the memory is unknown, the first one counts.
 * Sources: GFD's label `nvidia.com/gpu.product` and DCGM's `modelName` in genuine captures; the accelerators of GKE
 * (https://cloud.google.com/kubernetes-engine/docs/concepts/gpus#available-gpus); the label `instance-gpu-name` of Karpenter and EKS Auto
 * Mode, which has the name of EC2's DescribeInstanceTypes in lower case; CoreWeave's `gpu.nvidia.com/model`, which has NVLINK for SXM.
 */
export const GPU_MODELS: readonly GpuModel[] = [
  nvidia("Tesla-K80", 12, "K80"),
  nvidia("Tesla-M60", 8, "M60"),
  nvidia("Tesla-P4", 8, "P4"),
  nvidia("Tesla-P100-PCIE-16GB", 16, "P100", "P100-16GB"),
  nvidia("Tesla-V100-SXM2-16GB", 16, "V100", "V100-16GB", "V100-NVLINK"),
  nvidia("Tesla-V100-SXM2-32GB", 32, "V100", "V100-32GB", "V100-NVLINK"),
  nvidia("Tesla-V100-PCIE-16GB", 16, "V100-PCIE"),
  nvidia("Tesla-V100-PCIE-32GB", 32, "V100-PCIE"),
  nvidia("Tesla-T4", 16, "T4"),
  nvidia("NVIDIA-T4G", 16, "T4G"),
  nvidia("NVIDIA-A2", 16, "A2"),
  nvidia("NVIDIA-A10", 24, "A10"),
  nvidia("NVIDIA-A10G", 24, "A10G"),
  nvidia("NVIDIA-A16", 16, "A16"),
  nvidia("NVIDIA-A30", 24, "A30"),
  nvidia("NVIDIA-A40", 48, "A40"),
  nvidia("NVIDIA-L4", 24, "L4"),
  nvidia("NVIDIA-L40", 48, "L40"),
  nvidia("NVIDIA-L40S", 48, "L40S"),
  nvidia("NVIDIA-RTX-A4000", 16, "RTX-A4000"),
  nvidia("NVIDIA-RTX-A5000", 24, "RTX-A5000"),
  nvidia("NVIDIA-RTX-A6000", 48, "RTX-A6000"),
  nvidia("NVIDIA-A100-SXM4-40GB", 40, "A100", "A100-40GB", "A100-NVLINK", "Tesla-A100"),
  nvidia("NVIDIA-A100-SXM4-80GB", 80, "A100", "A100-80GB", "A100-NVLINK-80GB"),
  nvidia("NVIDIA-A100-PCIE-40GB", 40, "A100-PCIE"),
  nvidia("NVIDIA-A100-80GB-PCIe", 80, "A100-PCIE", "A100-PCIE-80GB"),
  nvidia("NVIDIA-H100-80GB-HBM3", 80, "H100", "H100-80GB", "H100-MEGA-80GB", "H100-NVLINK-80GB", "H100-SXM5-80GB"),
  nvidia("NVIDIA-H100-PCIe", 80, "H100-PCIE-80GB"),
  nvidia("NVIDIA-H100-NVL", 94, "H100"),
  nvidia("NVIDIA-GH200-480GB", 96, "GH200"),
  nvidia("NVIDIA-GH200-144G-HBM3e", 144, "GH200"),
  nvidia("NVIDIA-H200", 141, "H200", "H200-141GB"),
  nvidia("NVIDIA-H200-NVL", 141),
  nvidia("NVIDIA-B200", 180, "B200"),
  nvidia("NVIDIA-B300-SXM6-AC", 288, "B300"),
  nvidia("NVIDIA-GB200", 186, "GB200"),
  nvidia("NVIDIA-GB300", 288, "GB300"),
  nvidia(
    "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
    96,
    "RTX-PRO-6000",
    "RTX-PRO-6000-Blackwell",
    "RTX-PRO-Server-6000",
  ),
  amd("AMD-Instinct-MI210", 64, "MI210"),
  amd("AMD-Instinct-MI250X", 128, "MI250X"),
  amd("AMD-Instinct-MI300A", 128, "MI300A"),
  amd("AMD-Instinct-MI300X-OAM", 192, "MI300X", "MI300X-O"),
  amd("AMD-Instinct-MI308X", 192, "MI308X", "MI308X-OAM"),
  amd("AMD-Instinct-MI325X-OAM", 256, "MI325X"),
  amd("AMD-Instinct-MI350X-OAM", 288, "MI350X"),
  amd("AMD-Instinct-MI355X-OAM", 288, "MI355X"),
  amd("AMD-Radeon-Pro-V520", 8, "V520", "Radeon-Pro-V520-MxGPU"),
  intel("Intel-Data-Center-GPU-Flex-140", 12, "Flex-140", "Data-Center-GPU-Flex-140"),
  intel("Intel-Data-Center-GPU-Flex-170", 16, "Flex-170", "Data-Center-GPU-Flex-170"),
  intel("Intel-Data-Center-GPU-Max-1100", 48, "Max-1100", "Data-Center-GPU-Max-1100"),
  intel("Intel-Data-Center-GPU-Max-1550", 128, "Max-1550", "Data-Center-GPU-Max-1550"),
];
