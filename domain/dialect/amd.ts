import { isZeroUuid, type Device } from "../device.ts";
import { aliasTable, celsius, number, percent, type AliasRow, type Dialect } from "./dialect.ts";

const MEGA = 1e6;

/** The metrics of AMD's device-metrics-exporter by its metrics list: percentages, decimal megabytes, microjoules. */
const TABLE: readonly AliasRow[] = [
  // Since 1.3.1 only the first partition of a GPU has gpu_gfx_activity. A partition of CPX has one XCC.
  ["gr_engine_active_ratio", percent, "gpu_gfx_activity", ["gpu_gfx_busy_instantaneous", { xcc_index: "0" }]],
  ["gpu_utilization_ratio", percent, "gpu_usage"],
  ["memory_copy_utilization_ratio", percent, "gpu_umc_activity", "gpu_memory_activity"],
  ["fb_used_bytes", number(MEGA), "gpu_used_vram", "gpu_memory_used"],
  ["fb_free_bytes", number(MEGA), "gpu_free_vram"],
  ["fb_total_bytes", number(MEGA), "gpu_total_vram", "gpu_total_memory"],
  ["sm_clock_hertz", number(MEGA), ["gpu_clock", { clock_type: "system", clock_index: "0" }], "gpu_gfx_clock"],
  [
    "sm_clock_hertz",
    number(MEGA),
    ["gpu_clock", { clock_type: "GPU_CLOCK_TYPE_SYSTEM", clock_index: "0" }],
    ["gpu_clock", { clock_type: "GPU_CLOCK_TYPE_SYSTEM" }],
  ],
  ["memory_clock_hertz", number(MEGA), ["gpu_clock", { clock_type: "memory" }], "gpu_memory_clock"],
  ["memory_clock_hertz", number(MEGA), ["gpu_clock", { clock_type: "GPU_CLOCK_TYPE_MEMORY" }]],
  ["gpu_temperature_celsius", celsius, "gpu_junction_temperature", "gpu_edge_temperature", "gpu_temperature"],
  ["memory_temperature_celsius", celsius, "gpu_memory_temperature"],
  ["power_watts", number(), "gpu_package_power", "gpu_power_usage", "gpu_average_package_power"],
  ["energy_joules", number(1e-6), "gpu_energy_consumed"],
  ["ecc_sbe_volatile_total", number(), "gpu_ecc_correct_total"],
  ["ecc_dbe_volatile_total", number(), "gpu_ecc_uncorrect_total"],
  ["pcie_replay_total", number(), "pcie_replay_count"],
];

const PREFIX = /^amd_/i;
const lookUp = aliasTable(TABLE);

/** ROCm/device-metrics-exporter, with and without the `amd_` prefix. */
export const amd: Dialect = {
  exporter: "amd-device-metrics-exporter",
  table: TABLE,
  owns: (name) => /^(amd_)?(gpu|pcie|xgmi)_/i.test(name),
  // Other programs that count GPUs may also use names that begin with gpu_, this program included.
  marks: (name) => PREFIX.test(name) || lookUp(name).length > 0,
  aliases: (name) => lookUp(name.replace(PREFIX, "")),
  fields: {
    gpu_id: "gpu",
    gpu_uuid: "uuid",
    serial_number: "serial",
    card_series: "model",
    driver_version: "driverVersion",
    hostname: "hostname",
    gpu_partition_id: "partition",
    pcie_bus_id: "pciBusId",
    pci_bus_id: "pciBusId",
    namespace: "namespace",
    pod: "pod",
    container: "container",
    job_id: "hpcJob",
  },
  ignored: new Set([
    "card_model",
    "card_vendor",
    "vbios_version",
    "cluster_name",
    "gpu_compute_partition_type",
    "gpu_memory_partition_type",
    "deployment_mode",
    "job_user",
    "job_partition",
  ]),
  foreign: new Set(),
  refine,
  fold,
};

/**
 * Removes the partition of a GPU in single-partition mode, because the GPU is whole and its partition 0 is not a part. "NA" is not a
 * partition either.
 */
function refine(device: Device, labels: ReadonlyMap<string, string>): Device {
  const mode = labels.get("gpu_compute_partition_type")?.toLowerCase();
  if (device.partition === undefined || (mode !== "spx" && !/^n\/?a$/i.test(device.partition))) return device;
  const { partition: _, ...whole } = device;
  return whole;
}

/**
 * Folds partitions into GPUs. Each partition is a device with its own index. All partitions of a GPU share the GPU's serial number, UUID or
 * PCI address. The labels that number them within their GPU are optional. The index of the GPU is its position among the host's GPUs.
 */
function fold(devices: readonly Device[]): readonly Device[] {
  const gpus = new Map<string, { readonly first: Device; readonly indexes: Set<number> }>();
  for (const device of devices) {
    const key = physicalKey(device);
    const gpu = gpus.get(key) ?? { first: device, indexes: new Set() };
    gpu.indexes.add(Number(device.gpu));
    gpus.set(key, gpu);
  }
  if ([...gpus.values()].every(({ indexes }) => indexes.size === 1)) return devices;
  const sorted = [...gpus]
    .map(([key, { first, indexes }]) => ({ key, first, indexes: [...indexes].toSorted((a, b) => a - b) }))
    .toSorted((a, b) => a.indexes[0]! - b.indexes[0]!);
  const parts = new Map(
    sorted.map(({ key, first, indexes }, number) => {
      const partitions = new Map(indexes.map((index, partition) => [index, String(partition)]));
      return [key, { gpu: String(number), uuid: first.uuid, partitions }] as const;
    }),
  );
  return devices.map((device) => {
    const { gpu, uuid, partitions } = parts.get(physicalKey(device))!;
    const partition = device.partition ?? partitions.get(Number(device.gpu))!;
    return {
      ...device,
      gpu,
      ...(uuid === undefined ? {} : { uuid }),
      ...(partitions.size > 1 ? { partition } : {}),
    };
  });
}

/** Returns a key that all devices of one GPU share. The UUID of a virtual function is all zeroes and is not used. */
function physicalKey({ serial, uuid, pciBusId, gpu }: Device): string {
  if (serial !== undefined) return `serial ${serial}`;
  if (uuid !== undefined && !isZeroUuid(uuid)) return `uuid ${uuid}`;
  return pciBusId === undefined ? `index ${gpu}` : `pci ${pciBusId}`;
}
