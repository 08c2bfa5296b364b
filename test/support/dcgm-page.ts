/** Generated pages in the format of dcgm-exporter: the families of its default counters, any number of GPUs. */
export interface PageOptions {
  readonly gpus: number;
  readonly host: string;
  /** Called for each number of the page. */
  readonly value: (family: string, gpu: number) => string;
  readonly pod?: (gpu: number) => string | undefined;
  readonly families?: readonly string[];
}

export const STOCK_FAMILIES: readonly string[] = [
  "DCGM_FI_DEV_SM_CLOCK",
  "DCGM_FI_DEV_MEM_CLOCK",
  "DCGM_FI_DEV_MEMORY_TEMP",
  "DCGM_FI_DEV_GPU_TEMP",
  "DCGM_FI_DEV_POWER_USAGE",
  "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
  "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
  "DCGM_FI_DEV_GPU_UTIL",
  "DCGM_FI_DEV_MEM_COPY_UTIL",
  "DCGM_FI_DEV_ENC_UTIL",
  "DCGM_FI_DEV_DEC_UTIL",
  "DCGM_FI_DEV_XID_ERRORS",
  "DCGM_FI_DEV_FB_FREE",
  "DCGM_FI_DEV_FB_USED",
  "DCGM_FI_DEV_FB_RESERVED",
  "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
  "DCGM_FI_DEV_VGPU_LICENSE_STATUS",
  "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
  "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
  "DCGM_FI_DEV_ROW_REMAP_FAILURE",
  "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
  "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
  "DCGM_FI_PROF_DRAM_ACTIVE",
  "DCGM_FI_PROF_PCIE_TX_BYTES",
  "DCGM_FI_PROF_PCIE_RX_BYTES",
];

/** The text of one page. */
export function dcgmPage({ gpus, host, value, pod, families = STOCK_FAMILIES }: PageOptions): string {
  const lines: string[] = [];
  for (const family of families) {
    lines.push(`# HELP ${family} What ${family} counts, in the words of a counter file.`, `# TYPE ${family} gauge`);
    for (let gpu = 0; gpu < gpus; gpu++) {
      const holder = pod?.(gpu);
      const owner =
        holder === undefined
          ? ""
          : `,container="main",namespace="team-${gpu % 3}",pod="${holder}",pod_uid="uid-${holder}"`;
      lines.push(
        `${family}{gpu="${gpu}",UUID="GPU-${host}-0000-4000-8000-${String(gpu).padStart(12, "0")}",pci_bus_id="00000000:${(16 + gpu).toString(16)}:00.0",device="nvidia${gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="${host}",DCGM_FI_DRIVER_VERSION="550.144.03"${owner}} ${value(family, gpu)}`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}
