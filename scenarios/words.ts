import { z } from "zod";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../domain/time.ts";

const TIME = "a time in UTC from 1970 to 2261, such as 2026-03-01T12:30:00Z, or a date";
/** The store's times have nanoseconds, of which 64 bits count no further. */
const LATEST_YEAR = 2261;

/** A time: milliseconds since the epoch. */
export const time = z.string({ error: TIME }).transform((text, context) => {
  const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(text);
  const millis = isTime ? Date.parse(text) : Number.NaN;
  // What does not exist, 30 February, is read as a day of the next month.
  const isRight = !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(text.slice(0, 10));
  const year = Number(text.slice(0, 4));
  if (isRight && year >= 1970 && year <= LATEST_YEAR) return millis;
  context.addIssue({ code: "custom", message: TIME });
  return z.NEVER;
});

const INTERVAL = "a duration of whole milliseconds, such as 30s, 5m, 200ms";
const UNIT_MILLIS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: MINUTE_MILLIS, h: HOUR_MILLIS };
/** A duration in milliseconds. */
export const duration = z.string({ error: INTERVAL }).transform((text, context) => {
  const match = /^(\d{1,9})(ms|s|m|h)$/.exec(text);
  const millis = match === null ? 0 : Number(match[1]) * UNIT_MILLIS[match[2]!]!;
  if (millis > 0) return millis;
  context.addIssue({ code: "custom", message: INTERVAL });
  return z.NEVER;
});

/** A name that is not empty. */
export const name = z.string({ error: "a name" }).min(1, { error: "a name" });
/** Returns a whole number with a lower limit. */
export const count = (least: number): z.ZodNumber =>
  z
    .number({ error: `a whole number, at least ${least}` })
    .int()
    .min(least, { error: `a whole number, at least ${least}` });
/** A whole percentage. */
export const percent = z
  .number({ error: "a whole number from 1 to 100" })
  .int()
  .min(1, { error: "a whole number from 1 to 100" })
  .max(100, { error: "a whole number from 1 to 100" });
/** A ratio of at least 0. */
export const ratio = z
  .number({ error: "a ratio of at least 0, such as 0.85" })
  .min(0, { error: "a ratio of at least 0, such as 0.85" });
/** Names with their values. */
export const texts = z.record(z.string(), z.coerce.string(), { error: "names with their values" });
/** Returns one of some words. */
export const word = <const T extends readonly [string, ...string[]]>(...words: T) =>
  z.enum(words, { error: `one of: ${words.join(", ")}` });
/** The bounds of a time, each of which may be missing. */
export const span = { from: time.optional(), until: time.optional() };
/** Indexes of GPUs. */
export const gpuIndexes = z.array(count(0), { error: "a list of GPU indexes" });
