import { z } from "zod";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

const DURATION_MILLIS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: MINUTE_MILLIS,
  h: HOUR_MILLIS,
  d: DAY_MILLIS,
  w: 7 * DAY_MILLIS,
};
const SIZE_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Parses a duration (`30s`, `1m30s`, `7d`) to milliseconds; `undefined` if it is not one. */
export function parseDuration(text: string): number | undefined {
  return sumOf(text, DURATION_MILLIS, /(\d+(?:\.\d+)?)(ms|[smhdw])/y);
}

/** Parses a size (`512MiB`, `2GB`, `100Gi`) to bytes; `undefined` if it is not one. */
export function parseSize(text: string): number | undefined {
  return sumOf(text, SIZE_BYTES, /(\d+(?:\.\d+)?)\s?([kKMGT]i?B?|B)/y);
}

function sumOf(text: string, units: Readonly<Record<string, number>>, part: RegExp): number | undefined {
  let sum = 0;
  let at = 0;
  part.lastIndex = 0;
  for (let match = part.exec(text); match !== null; match = part.exec(text)) {
    const unit = units[match[2]!];
    if (unit === undefined) return undefined;
    sum += Number(match[1]) * unit;
    at = part.lastIndex;
  }
  return at === text.length && text !== "" ? Math.round(sum) : undefined;
}

/** Returns a schema for a duration between two bounds. The output is in milliseconds. */
export function duration(least: string, most: string): z.ZodType<number, string> {
  const allowed = `a duration from ${least} to ${most}, such as 30s, 5m or 1h30m`;
  return quantity(allowed, parseDuration, parseDuration(least)!, parseDuration(most)!, "^([0-9.]+(ms|s|m|h|d|w))+$");
}

/** Returns a schema for a size between two bounds. The output is in bytes. */
export function size(least: string, most: string): z.ZodType<number, string> {
  const allowed = `a size from ${least} to ${most}, such as 512MiB or 2GB`;
  return quantity(allowed, parseSize, parseSize(least)!, parseSize(most)!, "^[0-9.]+ ?[kKMGT]?i?B?$");
}

function quantity(
  allowed: string,
  parse: (text: string) => number | undefined,
  least: number,
  most: number,
  pattern: string,
): z.ZodType<number, string> {
  return z
    .string({ error: allowed })
    .meta({ description: allowed, pattern })
    .transform((text, context) => {
      const value = parse(text);
      if (value !== undefined && value >= least && value <= most) return value;
      context.addIssue({ code: "custom", message: allowed });
      return z.NEVER;
    });
}
