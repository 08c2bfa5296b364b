import { createBackOff, type BackOff } from "../../../runtime/back-off.ts";

/** Pauses between requests to an API server: client-go's reflector begins with 0.8 s and doubles up to 30 s. */
export function createApiBackOff(random: () => number = Math.random): BackOff {
  return createBackOff({ firstMillis: 800, longestMillis: 30_000, random });
}
