import { LAST_MILLIS } from "../../../domain/time.ts";

/** RFC 3339, the format of `metav1.Time` and `metav1.MicroTime`. */
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** Parses a Kubernetes time to milliseconds since the epoch. Undefined for anything else, and for years before 1970 and from 2262 on. */
export function millisOf(value: unknown): number | undefined {
  if (typeof value !== "string" || !RFC_3339.test(value)) return undefined;
  const millis = Date.parse(value);
  return millis >= 0 && millis <= LAST_MILLIS ? millis : undefined;
}

/** Returns the earliest of the known times in milliseconds since the epoch; undefined if none is known. */
export function earliest(times: Iterable<number | undefined>): number | undefined {
  let first: number | undefined;
  for (const time of times) if (time !== undefined && (first === undefined || time < first)) first = time;
  return first;
}

/** Returns the latest of the known times in milliseconds since the epoch; undefined if none is known. */
export function latest(times: Iterable<number | undefined>): number | undefined {
  let last: number | undefined;
  for (const time of times) if (time !== undefined && (last === undefined || time > last)) last = time;
  return last;
}
