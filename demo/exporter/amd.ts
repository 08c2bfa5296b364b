import type { Readings } from "../fleet/readings.ts";
import { layFamilies } from "./page.ts";
import type { Row, Series } from "./row.ts";

interface Field {
  readonly name: string;
  readonly help: string;
  readonly read: (readings: Readings) => number;
  readonly type?: "counter";
  readonly labels?: readonly (readonly [string, string])[];
}

const MEBI_TO_MEGA = 2 ** 20 / 1e6;

/** The families by name. Units are percents, decimal megabytes and microjoules, as in the exporter's list of metrics. */
const FIELDS: readonly Field[] = [
  {
    name: "gpu_clock",
    help: "Clock in MHz",
    read: (r) => r.smMhz,
    labels: [
      ["clock_index", "0"],
      ["clock_type", "GPU_CLOCK_TYPE_SYSTEM"],
    ],
  },
  { name: "gpu_ecc_correct_total", help: "Correctable errors", read: () => 0 },
  { name: "gpu_ecc_uncorrect_total", help: "Uncorrectable errors", read: () => 0 },
  {
    name: "gpu_energy_consumed",
    help: "Energy consumed in uJ",
    read: (r) => Math.round(r.joules * 1e6),
    type: "counter",
  },
  { name: "gpu_gfx_activity", help: "Graphics engine activity in percent", read: (r) => Math.round(r.engine * 100) },
  { name: "gpu_junction_temperature", help: "Junction temperature in Celsius", read: (r) => r.gpuCelsius },
  { name: "gpu_memory_temperature", help: "Memory temperature in Celsius", read: (r) => r.memoryCelsius },
  { name: "gpu_package_power", help: "Package power in Watts", read: (r) => Math.round(r.watts) },
  { name: "gpu_total_vram", help: "VRAM in MB", read: (r) => megabytes(r.fbFreeMib + r.fbUsedMib + r.fbReservedMib) },
  { name: "gpu_umc_activity", help: "Memory controller activity", read: (r) => Math.round(r.dram * 100) },
  { name: "gpu_used_vram", help: "VRAM in use in MB", read: (r) => megabytes(r.fbUsedMib) },
  { name: "pcie_replay_count", help: "PCIe replays", read: () => 0 },
];

function megabytes(mebibytes: number): number {
  return Math.round(mebibytes * MEBI_TO_MEGA);
}

/** Returns the page of AMD's device-metrics-exporter: labels by name, empty strings for a GPU without a holder. */
export function amdSeries(rows: readonly Row[]): Series[] {
  return layFamilies(
    FIELDS.map(({ name, help, read, type = "gauge", labels = [] }) => ({
      name,
      help,
      type,
      series: rows.map((row) => ({
        labels: labelsOf(row, labels),
        readings: row.device,
        read,
        format: "short" as const,
      })),
    })),
  );
}

function labelsOf({ node, gpu, pod }: Row, more: readonly (readonly [string, string])[]): string {
  const labels: (readonly [string, string])[] = [
    ["card_model", "102-G30211-0C"],
    ["card_series", node.model.name],
    ["card_vendor", "AMD"],
    ["cluster_name", ""],
    ["container", pod?.container ?? ""],
    ["driver_version", node.make.driver],
    ["gpu_compute_partition_type", "spx"],
    ["gpu_id", String(gpu.index)],
    ["gpu_memory_partition_type", "nps1"],
    ["gpu_partition_id", "0"],
    ["gpu_uuid", gpu.uuid],
    ["hostname", node.name],
    ["namespace", pod?.namespace ?? ""],
    ["pod", pod?.name ?? ""],
    ["serial_number", gpu.serial],
    ["vbios_version", "022.040.003.043.000001"],
    ...more,
  ];
  return labels
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}="${value}"`)
    .join(",");
}
