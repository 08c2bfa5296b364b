import { aliasTable, celsius, number, ratio, type AliasRow, type Dialect } from "./dialect.ts";

/**
 * The metrics of Intel XPU Manager: `xpum_*` of version 1, which scales its percentages to ratios, and the OpenTelemetry names of version
 * 2.
 */
const TABLE: readonly AliasRow[] = [
  [
    "gr_engine_active_ratio",
    ratio,
    ["xpum_engine_group_ratio", { type: "compute" }],
    ["hw_gpu_utilization_ratio", { hw_gpu_task: "compute-all" }],
  ],
  ["gpu_utilization_ratio", ratio, "xpum_engine_ratio", ["hw_gpu_utilization_ratio", { hw_gpu_task: "all" }]],
  ["dram_active_ratio", ratio, "xpum_memory_bandwidth_ratio", "hw_memory_bandwidth_utilization_ratio"],
  ["fb_used_bytes", number(), "xpum_memory_used_bytes", ["hw_memory_usage_bytes", { hw_memory_location: "device" }]],
  ["fb_total_bytes", number(), ["hw_memory_size_bytes", { hw_memory_location: "device" }]],
  ["sm_clock_hertz", number(1e6), ["xpum_frequency_mhz", { location: "gpu", type: "actual" }]],
  ["sm_clock_hertz", number(), ["hw_frequency_hertz", { hw_frequency_domain: "gpu", aggregation: "avg" }]],
  [
    "gpu_temperature_celsius",
    celsius,
    ["xpum_temperature_celsius", { location: "gpu" }],
    ["hw_temperature_celsius", { hw_sensor_location: "gpu", statistic: "max" }],
    ["hw_temperature_celsius", { hw_sensor_location: "gpu" }],
  ],
  [
    "memory_temperature_celsius",
    celsius,
    ["xpum_temperature_celsius", { location: "memory" }],
    ["hw_temperature_celsius", { hw_sensor_location: "memory", statistic: "max" }],
    ["hw_temperature_celsius", { hw_sensor_location: "memory" }],
  ],
  [
    "power_watts",
    number(),
    "xpum_power_watts",
    ["hw_power_watts", { hw_sensor_location: "card" }],
    ["hw_power_watts", { hw_sensor_location: "package" }],
    "hw_power_watts",
  ],
  [
    "energy_joules",
    number(),
    "xpum_energy_joules",
    "xpum_energy_joules_total",
    ["hw_energy_joules_total", { hw_sensor_location: "card" }],
    "hw_energy_joules_total",
  ],
];

/** Intel XPU Manager, versions 1 and 2. A tile is a partition of its GPU. */
export const intel: Dialect = {
  exporter: "intel-xpu-manager",
  table: TABLE,
  owns: (name) => /^(xpum|hw)_/.test(name),
  aliases: aliasTable(TABLE),
  fields: {
    uuid: "uuid",
    pci_bdf: "pciBusId",
    dev_name: "model",
    card: "gpu",
    sub_dev: "partition",
    com_intel_subdevice_id: "partition",
    node: "hostname",
    kube_namespace: "namespace",
    kube_pod: "pod",
    kube_container: "container",
  },
  ignored: new Set(["vendor", "pci_dev", "dev_file", "src"]),
  foreign: new Set(),
};
