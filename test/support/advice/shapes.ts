import { hashText, roll } from "../../../demo/fleet/hash.ts";
import type { Interval, PlantedPod } from "./planted-week.ts";

/** The activity of a device in an interval, as {@link PlantedPod.activity}. */
export type Shape = PlantedPod["activity"];

const INTERVALS_PER_HOUR = 12;
const PPM = 1_000_000;

/** Returns an interval with a mean and a highest sample, as parts of 1. */
function at(mean: number, max: number): Interval {
  const limited = (part: number): number => Math.round(Math.min(1, Math.max(0, part)) * PPM);
  return { mean: limited(mean), max: limited(Math.max(mean, max)) };
}

/** Nothing runs. Some exporters show a little activity at times. */
export const idle =
  (key: number): Shape =>
  (interval, device) =>
    at(0, roll(key, interval, device) < 0.001 ? 0.02 : 0);

/** A training at full work, with a warm-up of an hour, and pauses of 10 to 40 minutes for checkpoints or evaluation every few hours. */
export const training =
  (key: number, least = 0.8): Shape =>
  (interval, device) => {
    if (interval < INTERVALS_PER_HOUR) return at(0.05 + 0.2 * roll(key, interval, device), 0.5);
    const period = INTERVALS_PER_HOUR * (2 + Math.floor(4 * roll(key, 1)));
    const pause = 2 + Math.floor(6 * roll(key, Math.floor(interval / period)));
    if (interval % period < pause) return at(0.02 * roll(key, interval), 0.3);
    return at(least + (1 - least) * roll(key, interval, device), 1);
  };

/** A service with bursts at random times: most intervals are quiet, and some are full. */
export const bursts =
  (key: number): Shape =>
  (interval) => {
    const isBurst = roll(key, Math.floor(interval / (3 + Math.floor(6 * roll(key, 2))))) < 0.25;
    return isBurst ? at(0.5 + 0.5 * roll(key, interval), 1) : at(0.04 * roll(key, interval), 0.4);
  };

/** A service with little activity at all times. */
export const quiet =
  (key: number, most: number): Shape =>
  (interval, device) =>
    at(most * (0.2 + 0.5 * roll(key, interval, device)), most * (0.7 + 0.3 * roll(key, interval, device, 1)));

/** Work in some hours of the week alone. The week begins on Monday at midnight. */
export const inHours =
  (hours: (day: number, hour: number) => boolean, work: Shape, rest: Shape): Shape =>
  (interval, device) => {
    const hour = Math.floor(interval / INTERVALS_PER_HOUR);
    return (hours(Math.floor(hour / 24) % 7, hour % 24) ? work : rest)(interval, device);
  };

/** One shape until an hour, then another one. */
export const untilHour =
  (hour: number, first: Shape, then: Shape): Shape =>
  (interval, device) =>
    (interval < hour * INTERVALS_PER_HOUR ? first : then)(interval, device);

/** A service with a load that is high by day and lower by night, never nothing. */
export const daily =
  (key: number, low: number, high: number): Shape =>
  (interval, device) => {
    const hour = Math.floor(interval / INTERVALS_PER_HOUR) % 24;
    const part = (1 - Math.cos(((hour - 3) / 24) * 2 * Math.PI)) / 2;
    const mean = (low + (high - low) * part) * (0.8 + 0.2 * roll(key, interval, device));
    return at(mean, mean * 1.15);
  };

/** A shape without samples in a part of the intervals. */
export const gaps =
  (key: number, part: number, shape: Shape): Shape =>
  (interval, device) =>
    roll(key, interval, 77) < part ? undefined : shape(interval, device);

/** Returns the key of a name. */
export function keyOf(name: string): number {
  return hashText(35, name);
}
