import { momentText } from "../../domain/time.ts";

/** Returns a time as text; undefined for an infinite one, which means no beginning or no end. */
export function timeText(millis: number): string | undefined {
  return Number.isFinite(millis) ? momentText(millis) : undefined;
}
