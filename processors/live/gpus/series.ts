/** A series of `/metrics/gpu`. All are gauges. */
export interface GpuSeries {
  readonly name: string;
  /** The subject of one sample: a device, a pod's own processes on a device, or a workload. */
  readonly of: "device" | "process" | "workload";
  readonly unit: string;
  readonly help: string;
  /** The value is a price or cost, so the series has the currency as an additional label. */
  readonly money?: true;
}

/** The labels of an owner. All are empty without a known sole holder. */
const OWNER_LABELS = ["workload", "workload_type", "team", "cost_centre", "queue"] as const;

/** The labels of series of a device or of a process. */
export const DEVICE_LABELS = ["cluster", "node", "gpu", "uuid", "gi_id", "namespace", "pod", ...OWNER_LABELS] as const;

/** The labels of series of a workload. */
export const WORKLOAD_LABELS = ["cluster", "namespace", ...OWNER_LABELS] as const;

const HERE = "on the nodes of this processor's partitions";

/** Every series of `/metrics/gpu`, in the order of the page. docs/gpu-metrics.md must match it. */
export const GPU_SERIES = {
  deviceActivity: {
    name: "gpu_device_activity_ratio",
    of: "device",
    unit: "ratio",
    help: "Activity of a GPU or of a MIG instance of it: the largest of its measured ratios.",
  },
  deviceMemoryUsed: {
    name: "gpu_device_memory_used_bytes",
    of: "device",
    unit: "bytes",
    help: "Memory in use of a GPU or of a MIG instance of it.",
  },
  deviceMemoryTotal: {
    name: "gpu_device_memory_total_bytes",
    of: "device",
    unit: "bytes",
    help: "Memory that a GPU or a MIG instance of it has.",
  },
  deviceTemperature: {
    name: "gpu_device_temperature_celsius",
    of: "device",
    unit: "celsius",
    help: "Temperature of a GPU; one series for the GPU if it has instances.",
  },
  devicePower: {
    name: "gpu_device_power_watts",
    of: "device",
    unit: "watts",
    help: "Power draw of a GPU; one series for the GPU if it has instances.",
  },
  deviceHolders: {
    name: "gpu_device_holders",
    of: "device",
    unit: "pods",
    help: "Pods that have a part of a GPU or of a MIG instance of it: 0 if it is free. With several pods, the labels have no pod.",
  },
  deviceCost: {
    name: "gpu_device_cost_per_hour",
    of: "device",
    unit: "currency per hour",
    help: "Current cost per hour of a GPU or of a MIG instance of it, held or not, by the price book, without power. With an empty gi_id beside instances: the cost of the rest, which is in no instance.",
    money: true,
  },
  processActivity: {
    name: "gpu_process_activity_ratio",
    of: "process",
    unit: "ratio",
    help: "The part of a shared GPU's utilization by one pod's own processes, if the exporter has it.",
  },
  processMemoryUsed: {
    name: "gpu_process_memory_used_bytes",
    of: "process",
    unit: "bytes",
    help: "Memory of a shared GPU that one pod's own processes use, if the exporter has it.",
  },
  workloadGpus: {
    name: "gpu_workload_gpus",
    of: "workload",
    unit: "GPUs",
    help: `GPUs that a workload holds ${HERE}: 1 is a whole GPU. Sum it over processors.`,
  },
  workloadMeasured: {
    name: "gpu_workload_measured_gpus",
    of: "workload",
    unit: "GPUs",
    help: `Of the GPUs that a workload holds ${HERE}, the number with measured activity. Sum it over processors.`,
  },
  workloadActive: {
    name: "gpu_workload_active_gpus",
    of: "workload",
    unit: "GPUs",
    help: `GPUs that a workload keeps busy ${HERE}: their activity, weighted by the held part of each. Sum it over processors.`,
  },
  workloadActivity: {
    name: "gpu_workload_activity_ratio",
    of: "workload",
    unit: "ratio",
    help: `Mean activity of the devices that a workload holds ${HERE}. Over processors divide the sums of active and of measured GPUs.`,
  },
  workloadMemoryUsed: {
    name: "gpu_workload_memory_used_bytes",
    of: "workload",
    unit: "bytes",
    help: `GPU memory that a workload uses ${HERE}, if it can be separated from the memory of others. Sum it over processors.`,
  },
  workloadTemperature: {
    name: "gpu_workload_temperature_celsius",
    of: "workload",
    unit: "celsius",
    help: `Temperature of the hottest GPU of which a workload holds something ${HERE}. Take the maximum over processors.`,
  },
  workloadPower: {
    name: "gpu_workload_power_watts",
    of: "workload",
    unit: "watts",
    help: `Power draw of the devices that a workload holds ${HERE}; of a part of a GPU, that part of its draw. Sum it over processors.`,
  },
  workloadCost: {
    name: "gpu_workload_gpus_cost_per_hour",
    of: "workload",
    unit: "currency per hour",
    help: `What an hour of the GPUs costs now that a workload holds ${HERE}, by the price book, without power. Sum it over processors.`,
    money: true,
  },
} as const satisfies Readonly<Record<string, GpuSeries>>;

/** Returns the labels of a series, in their order on the page. */
export function labelsOf({ of, money }: GpuSeries): readonly string[] {
  const labels = of === "workload" ? WORKLOAD_LABELS : DEVICE_LABELS;
  return money === true ? [...labels, "currency"] : labels;
}
