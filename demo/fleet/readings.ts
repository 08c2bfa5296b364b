import { hash } from "./hash.ts";
import type { SlotMeter } from "./meter.ts";
import type { FleetGpu, FleetNode, Slot } from "./node.ts";
import { bootedAt, extraHeatAt, isProfilingStuck, xidAt } from "./troubles.ts";

/** The exporter's values for a GPU or a part of it, in DCGM's stock units. They are overwritten for each page. */
export interface Readings {
  smMhz: number;
  memoryMhz: number;
  memoryCelsius: number;
  gpuCelsius: number;
  watts: number;
  joules: number;
  /** 0..1, of time. */
  gpuUtilization: number;
  memoryUtilization: number;
  /** 0..1, of the slot. */
  engine: number;
  tensor: number;
  dram: number;
  fbUsedMib: number;
  fbFreeMib: number;
  fbReservedMib: number;
  xid: number;
  pcieTx: number;
  pcieRx: number;
  nvlinkBytesPerSecond: number;
  nvlinkTotal: number;
  eventReasons: number;
}

/** Returns empty readings. */
export function emptyReadings(): Readings {
  return {
    smMhz: 0,
    memoryMhz: 0,
    memoryCelsius: 0,
    gpuCelsius: 0,
    watts: 0,
    joules: 0,
    gpuUtilization: 0,
    memoryUtilization: 0,
    engine: 0,
    tensor: 0,
    dram: 0,
    fbUsedMib: 0,
    fbFreeMib: 0,
    fbReservedMib: 0,
    xid: 0,
    pcieTx: 0,
    pcieRx: 0,
    nvlinkBytesPerSecond: 0,
    nvlinkTotal: 0,
    eventReasons: 0,
  };
}

const AMBIENT_CELSIUS = 27;
/** The temperature above which a GPU slows down to protect itself. */
const SLOWDOWN_CELSIUS = 87;
/** The part of the memory that the context of a process takes on a GPU that it does not use. */
const CONTEXT_RATIO = 0.01;
const IDLE_REASON = 0x1;
const POWER_CAP_REASON = 0x4;
const SW_THERMAL_REASON = 0x20;

/** Returns a number in -1..1 for a time: the noise of one instrument. */
function noise(key: number, timeMillis: number, what: number): number {
  return hash(key, Math.floor(timeMillis / 1000), what) / 2147483648 - 1;
}

/** Writes the values of the whole GPU, from all of its slots, into `into`. */
export function readGpu(
  node: FleetNode,
  gpu: FleetGpu,
  meters: readonly SlotMeter[],
  timeMillis: number,
  into: Readings,
): void {
  const { model } = node;
  let load = 0;
  let late = 0;
  let area = 0;
  gpu.slots.forEach(({ weight }, i) => {
    load += weight * meters[i]!.load;
    late += weight * meters[i]!.lateLoad;
    area += weight * meters[i]!.loadSeconds;
  });
  const span = model.maxWatts - model.idleWatts;
  const idleSeconds = (timeMillis - bootedAt(node, timeMillis)) / 1000;
  into.watts = model.idleWatts + span * load + model.idleWatts * 0.01 * noise(gpu.key, timeMillis, 1);
  into.joules = model.idleWatts * idleSeconds + span * area;
  // A board at full power has about 74 degrees with any maximum power, because its cooler is designed for it.
  const heat = extraHeatAt(node, gpu.index, timeMillis);
  const rise = 6 + 41 * late + heat * (0.2 + 0.8 * late);
  into.gpuCelsius = Math.round(AMBIENT_CELSIUS + rise + (gpu.index % 4) + 0.8 * noise(gpu.key, timeMillis, 2));
  into.memoryCelsius = model.hasMemoryTemperature ? into.gpuCelsius + Math.round(3 + 9 * late) : 0;
  const isHot = into.gpuCelsius >= SLOWDOWN_CELSIUS;
  const isBusy = load > 0.01;
  const boost = isHot ? 0.72 : 1 - 0.04 * load;
  into.smMhz = isBusy ? Math.round((model.maxSmMhz * boost) / 15) * 15 : model.idleSmMhz;
  into.memoryMhz = isBusy || model.hasMemoryTemperature ? model.memoryMhz : 405;
  into.eventReasons =
    (isBusy ? 0 : IDLE_REASON) | (load > 0.93 ? POWER_CAP_REASON : 0) | (isHot ? SW_THERMAL_REASON : 0);
  into.xid = xidAt(node, gpu.index, timeMillis);
  into.pcieTx = Math.round(90_000 + load * 2.4e9 * (1 + 0.3 * noise(gpu.key, timeMillis, 3)));
  into.pcieRx = Math.round(17_000 + load * 1.1e9 * (1 + 0.3 * noise(gpu.key, timeMillis, 4)));
  into.nvlinkBytesPerSecond = model.hasNvlink ? Math.round(load * 9e10 * (1 + 0.2 * noise(gpu.key, timeMillis, 5))) : 0;
  into.nvlinkTotal = model.hasNvlink ? Math.round(area * 9e4) : 0;
}

/** Writes a slot's own values over those that {@link readGpu} wrote for its GPU. */
export function readSlot(node: FleetNode, slot: Slot, meter: SlotMeter, timeMillis: number, into: Readings): void {
  const { model } = node;
  const { pod, fromMillis } = meter.tenancy;
  const { load } = meter;
  const engine = load === 0 ? 0 : Math.min(1, Math.max(0, load * (1.04 + 0.03 * noise(slot.key, timeMillis, 6))));
  const isStuck = isProfilingStuck(node);
  into.engine = isStuck ? 0 : engine;
  into.tensor = isStuck ? 0 : engine * (pod?.tensorRatio ?? 0);
  into.dram = isStuck ? 0 : engine * (pod?.dramRatio ?? 0);
  into.gpuUtilization = Math.min(1, engine * 1.05);
  into.memoryUtilization = engine * (pod?.dramRatio ?? 0) * 0.9;
  const reserved = slot.instance === undefined && slot.replica === undefined ? model.reservedMib : 0;
  const capacity = slot.memoryMib - reserved;
  // A model is loaded over its first two minutes.
  const loaded = pod === undefined ? 0 : Math.min(1, 0.05 + (timeMillis - fromMillis) / 120_000);
  const memoryRatio = slot.resident?.isUsed === false ? CONTEXT_RATIO : (pod?.memoryRatio ?? 0);
  into.fbUsedMib =
    pod === undefined ? (slot.instance === undefined ? 1 : 13) : Math.round(capacity * memoryRatio * loaded);
  into.fbReservedMib = reserved;
  into.fbFreeMib = capacity - into.fbUsedMib;
}

/** Writes the combined values of all holders of a time-sliced GPU, from the values that {@link readSlot} wrote for each. */
export function readShared(node: FleetNode, gpu: FleetGpu, parts: readonly Readings[], into: Readings): void {
  const { model } = node;
  into.engine = into.tensor = into.dram = into.gpuUtilization = into.memoryUtilization = 0;
  into.fbUsedMib = 0;
  gpu.slots.forEach(({ weight }, i) => {
    const part = parts[i]!;
    into.engine += weight * part.engine;
    into.tensor += weight * part.tensor;
    into.dram += weight * part.dram;
    // A process's utilization is its part of the GPU's time.
    part.gpuUtilization *= weight;
    into.gpuUtilization += part.gpuUtilization;
    into.memoryUtilization += weight * part.memoryUtilization;
    into.fbUsedMib += part.fbUsedMib;
  });
  into.fbReservedMib = model.reservedMib;
  into.fbFreeMib = Math.max(0, model.memoryMib - model.reservedMib - into.fbUsedMib);
}
