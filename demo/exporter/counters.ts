import type { ExporterMake } from "../fleet/makes.ts";
import type { Readings } from "../fleet/readings.ts";

/** A line of a counter file: a DCGM field as a metric. */
export interface Counter {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly read: (readings: Readings) => number;
  /** DCGM's field is a double, written with six decimals. */
  readonly isDouble: boolean;
  /** DCGM has the field for whole GPUs only: a MIG instance has no such series. */
  readonly isWholeGpuOnly: boolean;
  /** From 4.8.2 on, each pod on a shared GPU has its own value. */
  readonly isPerProcess: boolean;
}

const MEBI = 2 ** 20;

function counter(
  name: string,
  type: Counter["type"],
  help: string,
  read: Counter["read"],
  more: Partial<Counter> = {},
): Counter {
  return { name, type, help, read, isDouble: false, isWholeGpuOnly: false, isPerProcess: false, ...more };
}

const double = { isDouble: true } as const;
const wholeGpu = { isWholeGpuOnly: true } as const;
const perProcess = { isPerProcess: true } as const;
const none = (): number => 0;

const DEV = "DCGM_FI_DEV_";
const PROF = "DCGM_FI_PROF_";

const CLOCKS_AND_HEAT: readonly Counter[] = [
  counter(`${DEV}SM_CLOCK`, "gauge", "SM clock, MHz.", (r) => r.smMhz),
  counter(`${DEV}MEM_CLOCK`, "gauge", "Memory clock, MHz.", (r) => r.memoryMhz),
  counter(`${DEV}MEMORY_TEMP`, "gauge", "Temperature of the memory, C.", (r) => r.memoryCelsius),
  counter(`${DEV}GPU_TEMP`, "gauge", "Temperature of the GPU, C.", (r) => r.gpuCelsius),
  counter(`${DEV}POWER_USAGE`, "gauge", "Power draw, W.", (r) => r.watts, double),
  counter(`${DEV}TOTAL_ENERGY_CONSUMPTION`, "counter", "Energy since boot, mJ.", (r) => r.joules * 1000),
  counter(`${DEV}PCIE_REPLAY_COUNTER`, "counter", "PCIe retries.", none, wholeGpu),
];

const UTILIZATION: readonly Counter[] = [
  counter(`${DEV}GPU_UTIL`, "gauge", "GPU utilization, %.", (r) => r.gpuUtilization * 100, {
    ...wholeGpu,
    ...perProcess,
  }),
  counter(`${DEV}MEM_COPY_UTIL`, "gauge", "Memory utilization, %.", (r) => r.memoryUtilization * 100, wholeGpu),
  counter(`${DEV}ENC_UTIL`, "gauge", "Encoder utilization, %.", none, wholeGpu),
  counter(`${DEV}DEC_UTIL`, "gauge", "Decoder utilization, %.", none, wholeGpu),
  counter(`${DEV}XID_ERRORS`, "gauge", "The last XID error.", (r) => r.xid),
];

const MEMORY: readonly Counter[] = [
  counter(`${DEV}FB_FREE`, "gauge", "Free framebuffer, MiB.", (r) => r.fbFreeMib),
  counter(`${DEV}FB_USED`, "gauge", "Used framebuffer, MiB.", (r) => r.fbUsedMib, perProcess),
];
const RESERVED = counter(`${DEV}FB_RESERVED`, "gauge", "Reserved framebuffer, MiB.", (r) => r.fbReservedMib);

const HEALTH: readonly Counter[] = [
  counter(`${DEV}UNCORRECTABLE_REMAPPED_ROWS`, "counter", "Rows remapped, uncorrectable.", none, wholeGpu),
  counter(`${DEV}CORRECTABLE_REMAPPED_ROWS`, "counter", "Rows remapped, correctable.", none, wholeGpu),
  counter(`${DEV}ROW_REMAP_FAILURE`, "gauge", "Whether remapping of rows has failed.", none, wholeGpu),
  counter(`${DEV}NVLINK_BANDWIDTH_TOTAL`, "counter", "NVLink bandwidth of all lanes.", (r) => r.nvlinkTotal),
  counter(`${DEV}VGPU_LICENSE_STATUS`, "gauge", "vGPU license.", none),
];

const PROFILING: readonly Counter[] = [
  counter(`${PROF}GR_ENGINE_ACTIVE`, "gauge", "Time the graphics engine is active, %.", (r) => r.engine, double),
  counter(`${PROF}PIPE_TENSOR_ACTIVE`, "gauge", "Cycles the tensor pipe is active, %.", (r) => r.tensor, double),
  counter(`${PROF}DRAM_ACTIVE`, "gauge", "Cycles the memory interface is active, %.", (r) => r.dram, double),
];

const pcie = (type: Counter["type"]): readonly Counter[] => [
  counter(`${PROF}PCIE_TX_BYTES`, type, "Rate of data sent over PCIe, bytes per second.", (r) => r.pcieTx, wholeGpu),
  counter(`${PROF}PCIE_RX_BYTES`, type, "Rate of data received over PCIe.", (r) => r.pcieRx, wholeGpu),
];

/** Counters that operators often add to the stock file. */
const ADDED: readonly Counter[] = [
  counter(`${PROF}SM_ACTIVE`, "gauge", "Cycles an SM has a warp.", (r) => r.engine * 0.92, double),
  counter(`${PROF}SM_OCCUPANCY`, "gauge", "Resident warps.", (r) => r.engine * 0.38, double),
  counter(`${DEV}CLOCKS_EVENT_REASONS`, "gauge", "Why clocks are held down.", (r) => r.eventReasons),
  counter(`${DEV}ECC_SBE_VOL_TOTAL`, "counter", "Single-bit ECC errors since boot.", none),
  counter(`${DEV}ECC_DBE_VOL_TOTAL`, "counter", "Double-bit ECC errors since boot.", none),
  counter(`${DEV}SLOWDOWN_TEMP`, "gauge", "Temperature of slowdown, C.", () => 87),
];

/** The default counters of 4.9.0 on DCGM 4.7: base units under new names. */
const BASE_UNITS: readonly Counter[] = [
  counter(`${DEV}SM_CLOCK_HERTZ`, "gauge", "SM clock frequency in hertz.", (r) => r.smMhz * 1e6),
  counter(`${DEV}MEMORY_CLOCK_HERTZ`, "gauge", "Memory clock frequency in hertz.", (r) => r.memoryMhz * 1e6),
  counter(`${DEV}MEMORY_TEMP_CELSIUS`, "gauge", "Memory temperature.", (r) => r.memoryCelsius),
  counter(`${DEV}GPU_TEMP_CELSIUS`, "gauge", "GPU temperature.", (r) => r.gpuCelsius),
  counter(`${DEV}BOARD_POWER_WATTS`, "gauge", "Board power.", (r) => millis(r.watts), double),
  counter(`${DEV}GPU_ENERGY_JOULES_TOTAL`, "counter", "Energy since driver load.", (r) => millis(r.joules), double),
  counter(`${DEV}PCIE_REPLAY_TOTAL`, "counter", "PCIe retries.", none, wholeGpu),
  counter(`${DEV}GPU_UTIL_RATIO`, "gauge", "GPU utilization ratio (0.0-1.0).", (r) => percents(r.gpuUtilization), {
    ...wholeGpu,
    ...perProcess,
  }),
  counter(
    `${DEV}MEMORY_UTIL_RATIO`,
    "gauge",
    "Memory utilization ratio.",
    (r) => percents(r.memoryUtilization),
    wholeGpu,
  ),
  counter(`${DEV}ENC_UTIL_RATIO`, "gauge", "Encoder utilization ratio (0.0-1.0).", none, wholeGpu),
  counter(`${DEV}DEC_UTIL_RATIO`, "gauge", "Decoder utilization ratio (0.0-1.0).", none, wholeGpu),
  counter(`${DEV}XID_ERROR`, "gauge", "The last XID error.", (r) => r.xid),
  counter(`${DEV}FB_FREE_BYTES`, "gauge", "Framebuffer free.", (r) => r.fbFreeMib * MEBI),
  counter(`${DEV}FB_USED_BYTES`, "gauge", "Framebuffer used.", (r) => r.fbUsedMib * MEBI, perProcess),
  counter(`${DEV}FB_RESERVED_BYTES`, "gauge", "Framebuffer reserved.", (r) => r.fbReservedMib * MEBI),
  counter(`${DEV}ROW_REMAP_UNCORRECTABLE_TOTAL`, "counter", "Rows remapped, uncorrectable.", none, wholeGpu),
  counter(`${DEV}ROW_REMAP_CORRECTABLE_TOTAL`, "counter", "Rows remapped, correctable.", none, wholeGpu),
  counter(`${DEV}ROW_REMAP_FAILED`, "gauge", "Whether remapping of rows has failed.", none, wholeGpu),
  counter(
    `${DEV}NVLINK_THROUGHPUT_BYTES_PER_SECOND`,
    "gauge",
    "NVLink throughput of all lanes.",
    (r) => r.nvlinkBytesPerSecond,
  ),
  counter(`${DEV}VGPU_LICENSE_STATUS`, "gauge", "vGPU license.", none),
  counter(`${PROF}GR_ENGINE_UTIL_RATIO`, "gauge", "Graphics engine active ratio.", (r) => r.engine, double),
  counter(`${PROF}TENSOR_UTIL_RATIO`, "gauge", "Tensor pipe active ratio.", (r) => r.tensor, double),
  counter(`${PROF}DRAM_UTIL_RATIO`, "gauge", "Memory interface active ratio.", (r) => r.dram, double),
  ...pcie("gauge"),
];

function percents(ratio: number): number {
  return Math.round(ratio * 100) / 100;
}

function millis(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** Returns the counters of a make of dcgm-exporter, in the order of its page. */
export function countersOf({ counters, pcieType, isSorted }: ExporterMake): readonly Counter[] {
  const stock = [...CLOCKS_AND_HEAT, ...UTILIZATION, ...MEMORY];
  const rest = [...HEALTH, ...PROFILING, ...pcie(pcieType)];
  const lists: Partial<Record<ExporterMake["counters"], readonly Counter[]>> = {
    oldest: [...stock, ...HEALTH.slice(3)],
    stock: [...stock, ...rest],
    reserved: [...stock, RESERVED, ...rest],
    extended: [...stock, ...rest, ...ADDED],
    "base-units": BASE_UNITS,
  };
  const list = lists[counters] ?? [];
  return isSorted ? list.toSorted((a, b) => (a.name < b.name ? -1 : 1)) : list;
}
