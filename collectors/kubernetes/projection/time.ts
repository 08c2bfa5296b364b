import { LAST_MILLIS } from "../../../domain/messages/shapes.ts";

/** RFC 3339, as `metav1.Time` and `metav1.MicroTime` are written. */
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** A Kubernetes time in milliseconds since the epoch, or undefined for anything else, and for years before 1970 and from 2262 on. */
export function millisOf(value: unknown): number | undefined {
  if (typeof value !== "string" || !RFC_3339.test(value)) return undefined;
  const millis = Date.parse(value);
  return millis >= 0 && millis <= LAST_MILLIS ? millis : undefined;
}

/** The earliest of the times that are known, or undefined where none is. */
export function earliest(times: Iterable<number | undefined>): number | undefined {
  let first: number | undefined;
  for (const time of times) if (time !== undefined && (first === undefined || time < first)) first = time;
  return first;
}

/** The latest of the times that are known, or undefined where none is. */
export function latest(times: Iterable<number | undefined>): number | undefined {
  let last: number | undefined;
  for (const time of times) if (time !== undefined && (last === undefined || time > last)) last = time;
  return last;
}
