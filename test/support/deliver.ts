import fc from "fast-check";
import { slicesOf } from "../../runtime/in-turns.ts";
import type { PlacedMessage } from "./play.ts";

/** Portions of messages: those that come first, and those that come after the hours were computed once. */
export interface Delivery {
  readonly first: readonly (readonly PlacedMessage[])[];
  readonly late: readonly (readonly PlacedMessage[])[];
}

/** Messages in a bad order of delivery: in any order and in portions of any size, some of them late, some twice. */
export function badDay(messages: readonly PlacedMessage[], pick: fc.GeneratorValue): Delivery {
  const { length } = messages;
  const all = pick(fc.shuffledSubarray<PlacedMessage>, [...messages], { minLength: length });
  const again = pick(fc.shuffledSubarray<PlacedMessage>, [...messages], { maxLength: Math.ceil(length / 5) });
  const inTime = pick(fc.nat, length);
  const size = pick(fc.integer, { min: Math.ceil(length / 20), max: length });
  return { first: slicesOf(all.slice(0, inTime), size), late: slicesOf([...all.slice(inTime), ...again], size) };
}
