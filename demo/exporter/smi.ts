import type { Readings } from "../fleet/readings.ts";
import { layFamilies } from "./page.ts";
import type { Row, Series } from "./row.ts";

const MEBI = 2 ** 20;

/** Base units. HELP contains nvidia-smi's own names. */
const FIELDS: readonly (readonly [name: string, help: string, read: (readings: Readings) => number])[] = [
  ["clocks_current_memory_clock_hz", "clocks.current.memory [MHz]", (r) => r.memoryMhz * 1e6],
  ["clocks_current_sm_clock_hz", "clocks.current.sm [MHz]", (r) => r.smMhz * 1e6],
  ["memory_free_bytes", "memory.free [MiB]", (r) => r.fbFreeMib * MEBI],
  ["memory_total_bytes", "memory.total [MiB]", (r) => (r.fbFreeMib + r.fbUsedMib + r.fbReservedMib) * MEBI],
  ["memory_used_bytes", "memory.used [MiB]", (r) => r.fbUsedMib * MEBI],
  ["power_draw_watts", "power.draw [W]", (r) => Math.round(r.watts * 100) / 100],
  ["temperature_gpu", "temperature.gpu", (r) => r.gpuCelsius],
  ["utilization_gpu_ratio", "utilization.gpu [%]", (r) => Math.round(r.gpuUtilization * 100) / 100],
  ["utilization_memory_ratio", "utilization.memory [%]", (r) => Math.round(r.memoryUtilization * 100) / 100],
];

/** Returns the page of nvidia_gpu_exporter, on a machine without Kubernetes' labels: only the UUID, and one line of names. */
export function smiSeries(rows: readonly Row[]): Series[] {
  const uuidOf = ({ gpu }: Row): string => gpu.uuid.replace(/^GPU-/, "");
  const info = {
    name: "nvidia_smi_gpu_info",
    help: "A metric with a constant '1' value labeled by the GPU's names.",
    type: "gauge",
    series: rows.map((row) => ({
      labels: [
        `driver_version="${row.node.make.driver}"`,
        `index="${row.gpu.index}"`,
        `name="${row.node.model.name}"`,
        `pci_bus_id="${row.gpu.pciBusId}"`,
        `uuid="${uuidOf(row)}"`,
      ].join(","),
      readings: row.device,
      read: () => 1,
      format: "short" as const,
    })),
  };
  const fields = FIELDS.map(([name, help, read]) => ({
    name: `nvidia_smi_${name}`,
    help,
    type: "gauge",
    series: rows.map((row) => ({
      labels: `uuid="${uuidOf(row)}"`,
      readings: row.device,
      read,
      format: "short" as const,
    })),
  }));
  return layFamilies([info, ...fields]);
}
