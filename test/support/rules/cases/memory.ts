import { fires, silent, type ExpectedAlert, type RuleCase } from "../case.ts";
import { dcgm, gpuLabels, gpuPlace, type RawGpu } from "../fleet.ts";

const NOTIFY = { critical: "page", warning: "ticket", info: "none" } as const;

function alert(
  severity: keyof typeof NOTIFY,
  description: string,
  labels: Record<string, string> = {},
  of: RawGpu = {},
): ExpectedAlert {
  return {
    labels: { ...gpuLabels(of), ...labels, severity, notify: NOTIFY[severity] },
    annotations: { description: `${gpuPlace(of)}${description}`, gpu: "0 (NVIDIA H100 80GB HBM3)", held_by: "" },
  };
}

const present = dcgm("DCGM_FI_DEV_GPU_TEMP", "50x400");

/** Memory that fails or ages, and DCGM's health watches. */
export const MEMORY_CASES: readonly RuleCase[] = [
  {
    name: "GPUHealthCheckFailed fires two minutes after a watch fails, not where it warns, and leaves heat and power to others",
    input: [
      present,
      dcgm("DCGM_EXP_GPU_HEALTH_STATUS", "0x9 10x9 20x9 0x20", {
        labels: { health_watch: "PCIE", health_error_code: "" },
      }),
      dcgm("DCGM_EXP_GPU_HEALTH_STATUS", "20x60", { labels: { health_watch: "THERMAL" } }),
      dcgm("DCGM_EXP_GPU_HEALTH_STATUS", "20x60", { labels: { health_watch: "POWER" } }),
    ],
    expect: [
      ...silent("GPUHealthCheckFailed", "4m", "9m30s", "11m30s", "15m"),
      ...fires(
        "GPUHealthCheckFailed",
        alert("critical", "DCGM's watch PCIE of this GPU fails.", { health_watch: "PCIE" }),
        "12m",
        "14m30s",
      ),
    ],
  },
  {
    name: "GPUUncorrectableECC fires at once at the first double-bit error, and ends with a reload of the driver",
    input: [present, dcgm("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "0x9 1x9 0x20")],
    expect: [
      ...silent("GPUUncorrectableECC", "4m30s", "10m"),
      ...fires(
        "GPUUncorrectableECC",
        alert(
          "critical",
          "Double-bit memory errors since the driver was loaded: 1. Results of running programs may be wrong. The GPU needs a reset.",
        ),
        "5m",
        "9m30s",
      ),
    ],
  },
  {
    name: "GPUUncorrectableECC fires once for a GPU whose MIG instances all repeat the count",
    input: ["1", "2"]
      .map((instance) =>
        dcgm("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "2x20", { labels: { GPU_I_ID: instance, GPU_I_PROFILE: "3g.40gb" } }),
      )
      .concat(dcgm("DCGM_FI_DEV_GPU_TEMP", "50x20", { labels: { GPU_I_ID: "1", GPU_I_PROFILE: "3g.40gb" } })),
    expect: fires(
      "GPUUncorrectableECC",
      alert(
        "critical",
        "Double-bit memory errors since the driver was loaded: 2. Results of running programs may be wrong. The GPU needs a reset.",
      ),
      "5m",
    ),
  },
  {
    name: "GPURowRemapFailure fires at once",
    input: [present, dcgm("DCGM_FI_DEV_ROW_REMAP_FAILURE", "0x9 1x9 0x9")],
    expect: [
      ...silent("GPURowRemapFailure", "4m30s", "10m"),
      ...fires(
        "GPURowRemapFailure",
        alert(
          "critical",
          "A row of memory could not be remapped because no spare rows are left. Return the GPU (RMA).",
        ),
        "5m",
      ),
    ],
  },
  ...(["DCGM_FI_DEV_ROW_REMAP_PENDING", "DCGM_FI_DEV_RETIRED_PENDING", "dcgm_retired_pages_pending"] as const).map(
    (name): RuleCase => ({
      name: `GPUMemoryRepairPending fires an hour after ${name} asks for a reset`,
      input: [present, dcgm(name, "0x9 1x129 0x20")],
      expect: [
        ...silent("GPUMemoryRepairPending", "4m30s", "1h4m30s", "1h10m"),
        ...fires(
          "GPUMemoryRepairPending",
          alert("warning", "Rows or pages of the GPU's memory will be taken out of use at its next reset."),
          "1h5m",
        ),
      ],
    }),
  ),
  {
    name: "GPUUncorrectableRemapGrowth fires when rows were remapped within a day, and not for those of before",
    every: "5m",
    evaluate: "5m",
    input: [
      dcgm("DCGM_FI_DEV_GPU_TEMP", "50x700"),
      dcgm("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "2x9 3x400"),
      dcgm("DCGM_FI_DEV_GPU_TEMP", "50x700", { node: "node-2" }),
      dcgm("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "7x400", { node: "node-2" }),
    ],
    expect: [
      ...silent("GPUUncorrectableRemapGrowth", "45m", "24h55m"),
      ...fires(
        "GPUUncorrectableRemapGrowth",
        alert("warning", "Memory was remapped within a day because of errors that cannot be corrected (rows: 1)."),
        "1h5m",
        "23h30m",
      ),
    ],
  },
  {
    name: "HighGPUMemoryUsage fires above nine tenths of used and free for five minutes",
    input: [
      present,
      dcgm("DCGM_FI_DEV_FB_USED", "900x9 910x19 900x20"),
      dcgm("DCGM_FI_DEV_FB_FREE", "100x9 90x19 100x20"),
      dcgm("DCGM_FI_DEV_FB_RESERVED", "500x80"),
    ],
    expect: [
      ...silent("HighGPUMemoryUsage", "5m", "9m30s", "15m"),
      ...fires(
        "HighGPUMemoryUsage",
        alert(
          "info",
          "91% of the memory is used. Frameworks keep memory that they once used, so this alone is no fault. A program that needs more memory will fail.",
        ),
        "10m",
        "14m30s",
      ),
    ],
  },
  {
    name: "HighGPUMemoryUsage fires for a MIG instance by itself, and for base units too",
    input: [
      present,
      dcgm("DCGM_FI_DEV_FB_USED_BYTES", "95e9x30", { labels: { GPU_I_ID: "1" } }),
      dcgm("DCGM_FI_DEV_FB_FREE_BYTES", "5e9x30", { labels: { GPU_I_ID: "1" } }),
      dcgm("DCGM_FI_DEV_FB_USED_BYTES", "5e9x30", { labels: { GPU_I_ID: "2" } }),
      dcgm("DCGM_FI_DEV_FB_FREE_BYTES", "95e9x30", { labels: { GPU_I_ID: "2" } }),
    ],
    expect: fires(
      "HighGPUMemoryUsage",
      {
        labels: { ...gpuLabels(), GPU_I_ID: "1", severity: "info", notify: "none" },
        annotations: {
          description:
            "GPU GPU-node-1-0, instance 1, of node node-1: 95% of the memory is used. Frameworks keep memory that they once used, so this alone is no fault. A program that needs more memory will fail.",
          gpu: "0 (NVIDIA H100 80GB HBM3)",
          held_by: "",
        },
      },
      "10m",
    ),
  },
];
