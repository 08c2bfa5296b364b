import { momentText } from "../../domain/time.ts";

/** A time as people read it; undefined where it is not a time but no beginning or no end. */
export function timeText(millis: number): string | undefined {
  return Number.isFinite(millis) ? momentText(millis) : undefined;
}
