/** The whole, in parts per million. Activity is an integer from the decoder on, so that sums are exact in any order. */
export const WHOLE_PPM = 1_000_000;

/**
 * Returns the measured activity of a device in parts per million: the largest of the given ratios, because a profiling counter that is
 * stuck at 0 must not make a busy GPU idle. `undefined` if none was measured (all NaN).
 */
export function activityPpm(...ratios: readonly number[]): number | undefined {
  let largest = -1;
  for (const ratio of ratios) if (ratio > largest) largest = ratio;
  return largest < 0 ? undefined : Math.round(Math.min(1, largest) * WHOLE_PPM);
}
