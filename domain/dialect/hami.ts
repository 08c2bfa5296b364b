import { aliasTable, celsius, number, percent, type AliasRow, type Dialect } from "./dialect.ts";

/**
 * The series of HAMi's vGPU monitor, with the current names and those of `--legacy-metrics`. Names that end in `_ratio` are 0..100
 * (https://github.com/Project-HAMi/HAMi/blob/master/cmd/vGPUmonitor/metrics.go).
 */
const TABLE: readonly AliasRow[] = [
  ["gpu_utilization_ratio", percent, "hami_host_gpu_utilization_ratio", "HostCoreUtilization"],
  ["memory_copy_utilization_ratio", percent, "hami_host_gpu_memory_controller_utilization_ratio"],
  ["fb_used_bytes", number(), "hami_host_gpu_memory_used_bytes", "HostGPUMemoryUsage"],
  ["gpu_temperature_celsius", celsius, "hami_host_gpu_temperature_celsius"],
  ["power_watts", number(), "hami_host_gpu_power_usage_watts"],
  [
    "process_utilization_ratio",
    percent,
    "hami_container_device_utilization_ratio",
    "Device_utilization_desc_of_container",
  ],
  ["process_fb_used_bytes", number(), "hami_vgpu_memory_used_bytes", "vGPU_device_memory_usage_in_bytes"],
];
/** If a page also has the rows of a GPU exporter, the exporter's values count. */
const RANK_BEHIND_EXPORTERS = 1000;

/** HAMi's vGPU monitor: the activity of each container on its part of a GPU, and a few values of each GPU. */
export const hami: Dialect = {
  exporter: "hami-vgpu-monitor",
  isCompanion: true,
  table: TABLE,
  owns: (name) =>
    /^(hami_(host_gpu|container|mig_device|vgpu_memory_(used|limit|context|module|buffer))_|(HostGPUMemoryUsage|HostCoreUtilization)$|vGPU_device_memory_|Device_\w+_of_container$)/.test(
      name,
    ),
  aliases: aliasTable(TABLE, RANK_BEHIND_EXPORTERS),
  fields: {
    device_uuid: "uuid",
    deviceuuid: "uuid",
    device_index: "gpu",
    deviceidx: "gpu",
    device_type: "model",
    devicetype: "model",
    namespace: "namespace",
    podnamespace: "namespace",
    pod: "pod",
    podname: "pod",
    container: "container",
    ctrname: "container",
    vdevice_index: "vgpu",
    vdeviceid: "vgpu",
    node: "hostname",
    nodeid: "hostname",
  },
  ignored: new Set([
    "zone",
    "mig_uuid",
    "profile",
    "gpu_instance_id",
    "compute_instance_id",
    // Labels of the legacy memory series, which contain bytes.
    "context",
    "module",
    "data",
    "offset",
  ]),
  foreign: new Set(),
  refine: ({ model, ...device }) =>
    model === undefined ? device : { ...device, model: model.replace(/^NVIDIA-/, "") },
};
