import { gpuKey, instanceKey } from "../domain/device.ts";
import { HOUR_MILLIS } from "../domain/time.ts";
import { NO_SUMS, type Measurement, type Sums } from "../processors/ledger/plan/measurement.ts";
import { grouped, keyOf } from "./grouped.ts";
import type { Sample } from "./samples.ts";

/** The samples of a device at one moment. */
type Moment = readonly [Sample, ...Sample[]];

/**
 * Creates a function that returns the sums of a measurement of one hour, as if the mean of the readings had lasted for the hour. Each moment
 * with an activity has an equal part of the hour. Of several rows of one moment, the most active one counts, as in the meter.
 */
export function createSums(samples: readonly Sample[]): (measurement: Measurement) => Sums {
  const byDevice = grouped(samples, ({ node, device }) => [node, gpuKey(device), instanceKey(device)]);
  const byGpu = grouped(samples, ({ node, device }) => [node, gpuKey(device)]);
  return (measurement) => {
    const { series, node, gpuKey: key, part } = measurement;
    const ofDevice = (series === "gpu" ? byGpu.get(keyOf(node, key)) : byDevice.get(keyOf(node, key, part))) ?? [];
    return series === "process" ? processSums(ofDevice, measurement) : deviceSums(ofDevice, measurement);
  };
}

function deviceSums(rows: readonly Sample[], { claimsPpm }: Measurement): Sums {
  const moments = momentsOf(rows.filter(({ activity }) => activity !== undefined));
  const activities = moments.map((moment) => Math.max(...moment.map(({ activity }) => activity!)));
  return {
    ...sumsOf(moments, activities),
    busyMillis: activities.filter((activity) => activity > 0).length * partOf(moments),
    atClaimsPpmMillis: total(activities, claimsPpm),
    maxPpm: Math.max(0, ...activities),
    memoryMaxMiB: Math.max(0, ...rows.map(({ memoryUsedMiB }) => memoryUsedMiB)),
  };
}

/** A pod without a row is inactive. A moment in which no row names a pod has no process data. */
function processSums(rows: readonly Sample[], { pod, claimPpm, occupantPpm }: Measurement): Sums {
  const moments = momentsOf(rows).filter((moment) => moment.some(({ device }) => device.pod !== undefined));
  const activities = moments.map((moment) =>
    moment
      .filter(({ device }) => `${device.namespace ?? ""}/${device.pod ?? ""}` === pod)
      .reduce((sum, { processActivity = 0 }) => sum + processActivity, 0),
  );
  return {
    ...sumsOf(moments, activities),
    atClaimPpmMillis: total(activities, claimPpm),
    atOccupantPpmMillis: total(activities, occupantPpm),
  };
}

function sumsOf(moments: readonly Moment[], activities: readonly number[]): Sums {
  const [first, last] = [moments[0], moments.at(-1)];
  if (first === undefined || last === undefined) return NO_SUMS;
  return {
    ...NO_SUMS,
    samples: moments.length,
    firstAt: first[0].atMillis,
    lastAt: last[0].atMillis,
    coveredMillis: partOf(moments) * moments.length,
    activityPpmMillis: total(activities, Infinity),
  };
}

/** Returns the time of each moment. The readings are few, and an hour has many divisors. */
function partOf(moments: readonly unknown[]): number {
  return Math.floor(HOUR_MILLIS / Math.max(1, moments.length));
}

function total(activities: readonly number[], most: number): bigint {
  const part = partOf(activities);
  return activities.reduce((sum, activity) => sum + BigInt(Math.min(activity, most) * part), 0n);
}

function momentsOf(rows: readonly Sample[]): readonly Moment[] {
  return [...grouped(rows, ({ atMillis }) => [String(atMillis)]).values()];
}
