import { aliasTable, celsius, celsiusOrUnsupported, number, ratio, type AliasRow, type Dialect } from "./dialect.ts";

const SMI = "nvidia_smi_";

/** The series of nvidia_gpu_exporter, in base units as its documentation lists them; HELP names nvidia-smi's own unit. */
const TABLE: readonly AliasRow[] = [
  ["gpu_utilization_ratio", ratio, `${SMI}utilization_gpu_ratio`],
  ["memory_copy_utilization_ratio", ratio, `${SMI}utilization_memory_ratio`],
  ["encoder_utilization_ratio", ratio, `${SMI}utilization_encoder_ratio`],
  ["decoder_utilization_ratio", ratio, `${SMI}utilization_decoder_ratio`],
  ["fb_used_bytes", number(), `${SMI}memory_used_bytes`],
  ["fb_free_bytes", number(), `${SMI}memory_free_bytes`],
  ["fb_reserved_bytes", number(), `${SMI}memory_reserved_bytes`],
  ["fb_total_bytes", number(), `${SMI}memory_total_bytes`],
  ["sm_clock_hertz", number(), `${SMI}clocks_current_sm_clock_hz`],
  ["memory_clock_hertz", number(), `${SMI}clocks_current_memory_clock_hz`],
  ["gpu_temperature_celsius", celsius, `${SMI}temperature_gpu`, `${SMI}temperature_gpu_celsius`],
  ["memory_temperature_celsius", celsiusOrUnsupported, `${SMI}temperature_memory`, `${SMI}temperature_memory_celsius`],
  ["power_watts", number(), `${SMI}power_draw_watts`, `${SMI}power_draw_average_watts`],
  ["power_limit_watts", number(), `${SMI}enforced_power_limit_watts`, `${SMI}power_limit_watts`],
];

/** utkuozdemir/nvidia_gpu_exporter: every series carries the UUID alone, `nvidia_smi_gpu_info` the rest. */
export const nvidiaSmi: Dialect = {
  exporter: "nvidia_gpu_exporter",
  table: TABLE,
  owns: (name) => name.startsWith(SMI),
  aliases: aliasTable(TABLE),
  fields: {
    uuid: "uuid",
    index: "gpu",
    name: "model",
    pci_bus_id: "pciBusId",
    serial: "serial",
    driver_version: "driverVersion",
    hostname: "hostname",
  },
  ignored: new Set([
    "driver_model_current",
    "driver_model_pending",
    "vbios_version",
    "compute_cap",
    "pci_sub_device_id",
    "cuda_version",
  ]),
  foreign: new Set(["pid"]),
  // nvidia-smi's UUIDs arrive without the prefix that DCGM and Kubernetes give them; one GPU has one name.
  refine: (device) =>
    device.uuid === undefined || device.uuid.startsWith("GPU-") ? device : { ...device, uuid: `GPU-${device.uuid}` },
};
