import { aliasTable, celsius, celsiusOrUnsupported, number, ratio, type AliasRow, type Dialect } from "./dialect.ts";

const SMI = "nvidia_smi_";

/**
 * The series of nvidia_gpu_exporter, in base units as its documentation lists them. The HELP text has nvidia-smi's own unit. Energy, XIDs
 * and MIG instances come from its NVML backend (https://github.com/utkuozdemir/nvidia_gpu_exporter/blob/main/docs/METRICS.md).
 */
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
  ["energy_joules", number(), `${SMI}energy_joules`],
  ["xid_code", number(), { times: `${SMI}xid_last_timestamp_seconds`, codeLabel: "xid" }],
  ["gr_engine_active_ratio", ratio, `${SMI}mig_graphics_activity_ratio`],
  ["sm_active_ratio", ratio, `${SMI}mig_sm_activity_ratio`],
  ["sm_occupancy_ratio", ratio, `${SMI}mig_sm_occupancy_ratio`],
  ["tensor_active_ratio", ratio, `${SMI}mig_tensor_activity_ratio`],
  ["fb_total_bytes", number(), `${SMI}mig_memory_total_bytes`],
  ["fb_used_bytes", number(), `${SMI}mig_memory_used_bytes`],
  ["fb_free_bytes", number(), `${SMI}mig_memory_free_bytes`],
  ["fb_reserved_bytes", number(), `${SMI}mig_memory_reserved_bytes`],
  ["pcie_tx_bytes_per_second", number(), `${SMI}pcie_throughput_tx_bytes_per_second`],
  ["pcie_tx_bytes_per_second", number(), `${SMI}mig_pcie_throughput_tx_bytes_per_second`],
  ["pcie_rx_bytes_per_second", number(), `${SMI}pcie_throughput_rx_bytes_per_second`],
  ["pcie_rx_bytes_per_second", number(), `${SMI}mig_pcie_throughput_rx_bytes_per_second`],
];

/** utkuozdemir/nvidia_gpu_exporter. Every series has only the UUID and the MIG instance. `nvidia_smi_gpu_info` has the other labels. */
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
    gpu_instance_id: "instance",
    profile: "profile",
  },
  ignored: new Set([
    "driver_model_current",
    "driver_model_pending",
    "vbios_version",
    "compute_cap",
    "pci_sub_device_id",
    "cuda_version",
    "mig_uuid",
    "compute_instance_id",
  ]),
  foreign: new Set(["pid"]),
  // nvidia-smi's UUIDs have no `GPU-` prefix, but DCGM and Kubernetes have it. The prefix is added so that one GPU has one name.
  refine: (device) =>
    device.uuid === undefined || device.uuid.startsWith("GPU-") ? device : { ...device, uuid: `GPU-${device.uuid}` },
};
