import { createBackOff, type BackOff } from "../../../runtime/back-off.ts";

/** Creates the back-off for requests to an API server, like client-go's reflector: it begins with 0.8 s and doubles up to 30 s. */
export function createApiBackOff(random: () => number = Math.random): BackOff {
  return createBackOff({ firstMillis: 800, longestMillis: 30_000, random });
}
