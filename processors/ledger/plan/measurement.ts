import type { Span } from "./node-record.ts";

/** A measured device and time: one device of a GPU, all its devices together, or a pod's processes. */
export interface Measurement extends Span {
  readonly series: "device" | "gpu" | "process";
  readonly node: string;
  readonly gpuKey: string;
  /** The instance or partition; empty for the GPU itself, and for the series `gpu`. */
  readonly part: string;
  /** `namespace/pod`, for the series `process`. */
  readonly pod: string;
  /** Samples from before this time do not count. */
  readonly since: number;
  /** Limits in parts per million of the device: the claim, all claims on it, an equal part for each pod on it. */
  readonly claimPpm: number;
  readonly claimsPpm: number;
  readonly occupantPpm: number;
}

/** The sums of samples over a {@link Measurement}: times in milliseconds, sums in parts per million times milliseconds. */
export interface Sums {
  readonly samples: number;
  /** Milliseconds since the epoch; 0 if no sample covers the time. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly coveredMillis: number;
  readonly busyMillis: number;
  readonly activityPpmMillis: bigint;
  readonly atClaimsPpmMillis: bigint;
  readonly atClaimPpmMillis: bigint;
  readonly atOccupantPpmMillis: bigint;
  readonly maxPpm: number;
  readonly memoryMaxMiB: number;
  /** The energy of the whole GPU in millijoules, and the time for which it is known. Not available for processes. */
  readonly energyMillijoules: bigint;
  readonly energyCoveredMillis: number;
}

/** The sums if no sample covers the time. */
export const NO_SUMS: Sums = {
  samples: 0,
  firstAt: 0,
  lastAt: 0,
  coveredMillis: 0,
  busyMillis: 0,
  activityPpmMillis: 0n,
  atClaimsPpmMillis: 0n,
  atClaimPpmMillis: 0n,
  atOccupantPpmMillis: 0n,
  maxPpm: 0,
  memoryMaxMiB: 0,
  energyMillijoules: 0n,
  energyCoveredMillis: 0,
};
