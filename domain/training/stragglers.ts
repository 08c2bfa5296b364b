import { groupedBy } from "../grouped.ts";
import { LEAST_HOURS, slowIn, type Slow } from "./outliers.ts";

/** The measures of a device's speed. A gang in lockstep is as fast as its slowest device. */
export type SpeedMeasure = "clock" | "activity";

/** The means of a device over an hour in which it was active; a value is undefined if the exporter has none. */
export interface DeviceHour {
  /** The begin of the hour, milliseconds since the epoch. */
  readonly hour: number;
  readonly node: string;
  readonly gpu: string;
  readonly pod: string;
  /** The clock of the SMs in hertz. */
  readonly clock: number | undefined;
  /** 0 to 1. */
  readonly activity: number | undefined;
}

/** A device that was slower than the others of its gang for most of the time. */
export interface Straggler {
  readonly node: string;
  readonly gpu: string;
  readonly pod: string;
  readonly measure: SpeedMeasure;
  /** The hours in which it was slower, and all hours with a value. */
  readonly slowHours: number;
  readonly hours: number;
  /** The mean of its value divided by the median of the gang, over the hours in which it was slower. */
  readonly ofMedian: number;
}

/** The stragglers of a gang, slowest first. */
export interface Stragglers {
  readonly stragglers: readonly Straggler[];
  /**
   * The part of the gang's time that it would have saved if its stragglers had the median speed: the mean over all hours of
   * 1 − slowest / median; 0 without stragglers.
   */
  readonly lostRatio: number;
}

/** Finds the stragglers of a gang: devices whose clock, or else activity, is far below the median in most hours. */
export function stragglersOf(hours: readonly DeviceHour[]): Stragglers {
  const byHour = groupedBy(hours, ({ hour }) => String(hour));
  const found = new Map<string, { readonly straggler: Straggler; readonly slow: readonly Slow<DeviceHour>[] }>();
  for (const measure of ["activity", "clock"] as const) {
    const slow = groupedBy(
      [...byHour.values()].flatMap((all) => slowIn(all, (each) => each[measure])),
      ({ of }) => deviceOf(of),
    );
    const seen = groupedBy(
      hours.filter((each) => each[measure] !== undefined),
      deviceOf,
    );
    for (const [device, own] of slow) {
      const count = seen.get(device)!.length;
      if (own.length < Math.max(LEAST_HOURS, count / 2)) continue;
      const { node, gpu, pod } = own[0]!.of;
      const ofMedian = own.reduce((sum, { ratio }) => sum + ratio, 0) / own.length;
      const straggler = { node, gpu, pod, measure, slowHours: own.length, hours: count, ofMedian };
      found.set(device, { straggler, slow: own });
    }
  }
  const slowest = new Map<number, number>();
  for (const { of, ratio } of [...found.values()].flatMap(({ slow }) => slow))
    slowest.set(of.hour, Math.min(slowest.get(of.hour) ?? 1, ratio));
  const lost = [...slowest.values()].reduce((sum, ratio) => sum + 1 - ratio, 0);
  return {
    stragglers: [...found.values()].map(({ straggler }) => straggler).toSorted((a, b) => a.ofMedian - b.ofMedian),
    lostRatio: byHour.size === 0 ? 0 : lost / byHour.size,
  };
}

function deviceOf({ node, gpu, pod }: DeviceHour): string {
  return JSON.stringify([node, gpu, pod]);
}
