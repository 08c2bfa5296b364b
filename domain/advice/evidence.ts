import type { UsageMachine } from "../allocation/usage-hour.ts";
import type { Held } from "../share/claim.ts";
import type { GpuLayout } from "../share/layout.ts";
import type { WorkloadType } from "../workload.ts";

/** The window of the evidence: whole hours, milliseconds since the epoch, half-open. */
export interface Window {
  readonly from: number;
  readonly until: number;
}

/** A workload of a cluster: the object that a person created. */
export interface WorkloadName {
  readonly cluster: string;
  readonly namespace: string;
  /** The kind of the object: Deployment, Job, Pod. */
  readonly kind: string;
  readonly workload: string;
}

/** The measurements of a workload in a window, from its usage rows and its five-minute rollups. */
export interface WorkloadEvidence extends WorkloadName {
  readonly type: WorkloadType;
  /** Declared by its users: it writes checkpoints, and goes on after an eviction. */
  readonly isRestartable: boolean;
  /** The team at the end of the window. */
  readonly team: string;
  /** The first and the last moment at which the workload held a GPU in the window. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** In the order of their names. */
  readonly pods: readonly PodEvidence[];
  /** One for each hour of the window. */
  readonly hours: readonly HourEvidence[];
}

/** A pod of a workload. */
export interface PodEvidence {
  readonly name: string;
  readonly firstAt: number;
  readonly lastAt: number;
  /** In the order of node, GPU and instance. */
  readonly devices: readonly DeviceEvidence[];
  /**
   * The highest activity of the pod's devices over five minutes in each hour of the window, parts per million; {@link NO_SAMPLE}, or
   * {@link NOT_HELD} if the pod held nothing.
   */
  readonly hourPeaks: readonly number[];
  /** The demand on the pod's engines; absent if their pages do not have it. */
  readonly engine?: EngineEvidence;
}

/** The demand on the inference engines of a pod, from their pages. */
export interface EngineEvidence {
  /** The highest demand over five minutes in each hour of the window, in parts per million of the pod; {@link NO_SAMPLE} or {@link NOT_HELD}. */
  readonly hourDemands: readonly number[];
  /** The most running requests over five minutes in each hour; 0 without a sample. */
  readonly hourRequests: readonly number[];
  /** The most requests that ran while another one waited; 0 if none has waited. */
  readonly limit: number;
}

/** The peak of an hour without a sample. */
export const NO_SAMPLE = -1;

/** The peak of an hour in which a pod held no device. */
export const NOT_HELD = -2;

/** A device that a pod held: a GPU, or a part of it. */
export interface DeviceEvidence {
  readonly node: string;
  readonly gpu: string;
  readonly model: string;
  readonly memoryMiB: number | undefined;
  readonly held: Held;
  readonly layout: GpuLayout["kind"];
  readonly machine: UsageMachine;
  /** Time in which the holder held the device and was running, and the part of that time with samples. */
  readonly heldMillis: number;
  readonly coveredMillis: number;
  /** Absent if the holder never had the device to itself in a rollup. */
  readonly stats?: DeviceStats;
}

/** The statistics of a device's five-minute rollups while one holder held it. Activities are parts per million of the device. */
export interface DeviceStats {
  readonly intervals: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p98: number;
  readonly p99: number;
  /** The 98th percentile of the highest sample of each interval, and the highest sample. */
  readonly peak98: number;
  readonly max: number;
  /** 95th percentiles of the profiling counters; absent if the exporter does not have the counter. */
  readonly sm95?: number;
  readonly tensor95?: number;
  readonly dram95?: number;
  /** The most memory in use, and the device's memory, in MiB; 0 if unknown. */
  readonly memoryPeakMiB: number;
  readonly memoryTotalMiB: number;
}

/** An hour of a workload, over all of its devices. */
export interface HourEvidence {
  /** Device-milliseconds held: running, starting, and waiting for the rest of the gang. */
  readonly heldMillis: number;
  readonly startingMillis: number;
  readonly waitingMillis: number;
  /** Device-milliseconds with samples, and the activity in them: parts per million times milliseconds. */
  readonly coveredMillis: number;
  readonly activityPpmMillis: number;
  /** The highest sample of any device. */
  readonly maxPpm: number;
  /** The most memory in use on any device. */
  readonly memoryMaxMiB: number;
  /** The pods that held a device. */
  readonly pods: number;
}

const PPM = 1_000_000;

/** An hour below both limits is idle: 1 % on average, and no sample above 5 %. */
const IDLE_MEAN_PPM = 10_000;
const IDLE_MAX_PPM = 50_000;

/** The part of an hour that must have samples. Over several hours, the configured coverage counts. */
const LEAST_HOUR = 0.5;

/** Returns true if a workload held devices for an hour without using any. False if half of the hour has no samples, because its use is unknown. */
export function isIdle(hour: HourEvidence): boolean {
  const running = runningMillis(hour);
  if (running === 0 || hour.coveredMillis < running * LEAST_HOUR) return false;
  return hour.activityPpmMillis < hour.coveredMillis * IDLE_MEAN_PPM && hour.maxPpm < IDLE_MAX_PPM;
}

/** Returns true if samples show that a workload used its devices in an hour. */
export function isActive({ coveredMillis, activityPpmMillis, maxPpm }: HourEvidence): boolean {
  return coveredMillis > 0 && (activityPpmMillis >= coveredMillis * IDLE_MEAN_PPM || maxPpm >= IDLE_MAX_PPM);
}

/** Returns the held time of an hour in which the holders were neither starting nor waiting. */
export function runningMillis({ heldMillis, startingMillis, waitingMillis }: HourEvidence): number {
  return heldMillis - startingMillis - waitingMillis;
}

/** Returns the part of the running time that has samples, 0 to 1; 1 if nothing ran. */
export function coverageOf(hours: readonly HourEvidence[]): number {
  const running = hours.reduce((total, hour) => total + runningMillis(hour), 0);
  return running === 0 ? 1 : hours.reduce((total, hour) => total + hour.coveredMillis, 0) / running;
}

/** Returns the mean activity over the hours with samples, 0 to 1; undefined without a sample. */
export function meanActivityOf(hours: readonly HourEvidence[]): number | undefined {
  const covered = hours.reduce((total, hour) => total + hour.coveredMillis, 0);
  if (covered === 0) return undefined;
  return hours.reduce((total, hour) => total + hour.activityPpmMillis, 0) / covered / PPM;
}

/** Returns all devices of a workload's pods. */
export function devicesOf({ pods }: WorkloadEvidence): readonly DeviceEvidence[] {
  return pods.flatMap(({ devices }) => devices);
}

/** Returns the highest value of a statistic over devices, as a part of 1; undefined if a device does not have it. */
export function highest(
  devices: readonly DeviceEvidence[],
  of: (stats: DeviceStats) => number | undefined,
): number | undefined {
  let most = 0;
  for (const { stats } of devices) {
    const value = stats === undefined ? undefined : of(stats);
    if (value === undefined) return undefined;
    most = Math.max(most, value);
  }
  return devices.length === 0 ? undefined : most / PPM;
}

/** Returns the most memory that one of the devices used, in MiB; undefined if a device has no measurement. */
export function memoryPeakOf(devices: readonly DeviceEvidence[]): number | undefined {
  const peaks = devices.map(({ stats }) => stats?.memoryPeakMiB ?? 0);
  return peaks.length === 0 || peaks.includes(0) ? undefined : Math.max(...peaks);
}
