/**
 * The scope of a value.
 * - `gpu`: the whole GPU, even if an exporter repeats it on every MIG instance or sharing pod.
 * - `device`: the device of the row: the GPU, or its MIG instance or partition.
 * - `process`: the pod's own part of a device that several pods share.
 */
export type MetricScope = "gpu" | "device" | "process";

/** The unit, which is the suffix of the metric's name. A count has no suffix. */
export type MetricUnit =
  | "ratio"
  | "hertz"
  | "bytes"
  | "bytes_per_second"
  | "celsius"
  | "watts"
  | "joules"
  | "seconds"
  | "count";

/**
 * The largest valid value of each unit. A larger value is an exporter's mistake. Each limit is small enough that a double holds the store's
 * scaled integer (`runtime/store/migrations`) exactly.
 */
export const MOST_OF_UNIT: Readonly<Record<MetricUnit, number>> = {
  ratio: 1,
  hertz: 1e12,
  bytes: 1e15,
  bytes_per_second: 1e15,
  celsius: 1000,
  watts: 1e6,
  joules: 9e12,
  seconds: 9e9,
  count: 9e15,
};

/** A canonical metric: one name, and one SI unit or a ratio 0..1, independent of the exporter's name and scale. */
export interface Metric {
  readonly name: string;
  readonly unit: MetricUnit;
  readonly scope: MetricScope;
  readonly kind: "gauge" | "counter";
  /** A description of the value, for people. */
  readonly help: string;
}

const UNITS = ["ratio", "hertz", "bytes_per_second", "bytes", "celsius", "watts", "joules", "seconds"] as const;

function unitOf(name: string): MetricUnit {
  return UNITS.find((unit) => name.endsWith(`_${unit}`)) ?? "count";
}

const metric =
  (kind: Metric["kind"]) =>
  (scope: MetricScope, name: string, help: string): Metric => ({
    name,
    unit: unitOf(name),
    scope,
    kind,
    help,
  });
const gauge = metric("gauge");
const counter = metric("counter");

/** Every canonical metric, in the order of messages and tables. */
export const METRICS: readonly Metric[] = [
  gauge("device", "gr_engine_active_ratio", "part of the time in which any compute or graphics engine was busy"),
  gauge("device", "sm_active_ratio", "part of the time in which an SM had a warp assigned, averaged over the SMs"),
  gauge("device", "sm_occupancy_ratio", "resident warps over the most that the SMs can hold"),
  gauge("device", "tensor_active_ratio", "part of the cycles in which the tensor pipes were busy"),
  gauge("device", "fp64_active_ratio", "part of the cycles in which the FP64 pipe was busy"),
  gauge("device", "fp32_active_ratio", "part of the cycles in which the FP32 pipe was busy"),
  gauge("device", "fp16_active_ratio", "part of the cycles in which the FP16 pipe was busy"),
  gauge("device", "dram_active_ratio", "part of the cycles in which device memory was sending or receiving"),
  gauge("device", "gpu_utilization_ratio", "part of the sample period in which a kernel ran"),
  gauge("device", "memory_copy_utilization_ratio", "part of the sample period in which memory was read or written"),
  gauge("device", "encoder_utilization_ratio", "part of the time in which the video encoder was busy"),
  gauge("device", "decoder_utilization_ratio", "part of the time in which the video decoder was busy"),
  gauge("device", "fb_used_bytes", "device memory in use"),
  gauge("device", "fb_free_bytes", "device memory free"),
  gauge("device", "fb_reserved_bytes", "device memory held back by driver and firmware"),
  gauge("device", "fb_total_bytes", "device memory in all"),
  gauge("process", "process_utilization_ratio", "the pod's own part of the device's utilization"),
  gauge("process", "process_fb_used_bytes", "device memory that the pod's own processes use"),
  gauge("gpu", "sm_clock_hertz", "clock of the SMs"),
  gauge("gpu", "memory_clock_hertz", "clock of the memory"),
  gauge("gpu", "gpu_temperature_celsius", "temperature of the GPU"),
  gauge("gpu", "memory_temperature_celsius", "temperature of the memory; absent if the GPU does not measure it"),
  gauge("gpu", "slowdown_temperature_celsius", "temperature at which the hardware slows down"),
  gauge("gpu", "shutdown_temperature_celsius", "temperature at which the hardware shuts down"),
  gauge("gpu", "max_operating_temperature_celsius", "highest temperature for steady work"),
  gauge("gpu", "temperature_margin_celsius", "distance to the nearest thermal limit"),
  gauge("gpu", "power_watts", "power draw of the board"),
  gauge("gpu", "power_limit_watts", "power limit that the driver enforces"),
  counter("gpu", "energy_joules", "energy since the driver was loaded; falls back at a reload"),
  gauge("gpu", "clocks_event_reasons", "bit mask of the reasons for which clocks are held down"),
  counter("gpu", "power_violation_seconds", "time spent slowed by the power limit"),
  counter("gpu", "thermal_violation_seconds", "time spent slowed by heat"),
  gauge("gpu", "xid_code", "code of the last XID, latched; 0 if there was none"),
  counter("gpu", "ecc_sbe_volatile_total", "single-bit errors since the driver was loaded"),
  counter("gpu", "ecc_dbe_volatile_total", "double-bit errors since the driver was loaded"),
  counter("gpu", "ecc_sbe_aggregate_total", "single-bit errors of the board's life"),
  counter("gpu", "ecc_dbe_aggregate_total", "double-bit errors of the board's life"),
  counter("gpu", "retired_pages_sbe_total", "pages retired for single-bit errors"),
  counter("gpu", "retired_pages_dbe_total", "pages retired for double-bit errors"),
  gauge("gpu", "retired_pages_pending", "pages that wait for retirement"),
  counter("gpu", "correctable_remapped_rows_total", "rows remapped for correctable errors"),
  counter("gpu", "uncorrectable_remapped_rows_total", "rows remapped for uncorrectable errors"),
  gauge("gpu", "row_remap_failure", "1 where remapping has failed"),
  gauge("gpu", "row_remap_pending", "1 where remapping waits for a reset"),
  gauge("gpu", "pcie_tx_bytes_per_second", "sent over PCIe"),
  gauge("gpu", "pcie_rx_bytes_per_second", "received over PCIe"),
  counter("gpu", "pcie_replay_total", "PCIe retries"),
  counter("gpu", "nvlink_bandwidth_total", "NVLink bandwidth of all lanes, as the exporter counts it"),
  gauge("gpu", "nvlink_bytes_per_second", "NVLink throughput of all lanes"),
  counter("gpu", "nvlink_crc_flit_errors_total", "NVLink flow-control CRC errors"),
  counter("gpu", "nvlink_crc_data_errors_total", "NVLink data CRC errors"),
  counter("gpu", "nvlink_replay_errors_total", "NVLink retries"),
  counter("gpu", "nvlink_recovery_errors_total", "NVLink recoveries"),
  gauge("gpu", "vgpu_license_state", "1 if the vGPU is licensed"),
];

/** The canonical metrics by name. */
export const METRIC_BY_NAME: ReadonlyMap<string, Metric> = new Map(METRICS.map((each) => [each.name, each]));
