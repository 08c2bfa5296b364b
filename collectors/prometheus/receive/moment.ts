import type { Moment } from "./model.ts";
import type { PushedTarget } from "./model.ts";

const NO_VALUES = new Float64Array(0);
const NONE_SEEN = new Uint8Array(0);
/** The memory of a moment without values. */
const MOMENT_BYTES = 256;
const BYTES_OF_SLOT = Float64Array.BYTES_PER_ELEMENT + 1;
const LEAST_SLOTS = 8;

/** Creates a moment without a sample. */
export function createMoment(target: PushedTarget, atMillis: number, segment: number): Moment {
  return {
    target,
    atMillis,
    layout: target.layout,
    values: NO_VALUES,
    seen: NONE_SEEN,
    count: 0,
    up: undefined,
    segment,
    arrivedMillis: 0,
    isChanged: false,
    isSending: false,
    intervalMillis: undefined,
    sentAtMillis: 0,
    lacksSeries: false,
  };
}

/** Makes room for all slots of the moment's layout. Returns the bytes that were added. */
export function growMoment(moment: Moment): number {
  const before = moment.values.length;
  const needed = Math.max(moment.layout.slots.length, LEAST_SLOTS);
  if (before >= needed) return 0;
  const values = new Float64Array(needed).fill(Number.NaN);
  values.set(moment.values);
  const seen = new Uint8Array(needed);
  seen.set(moment.seen);
  moment.values = values;
  moment.seen = seen;
  return (needed - before) * BYTES_OF_SLOT;
}

/** Returns the memory of a moment in bytes. */
export function momentBytes({ values }: Moment): number {
  return MOMENT_BYTES + values.length * BYTES_OF_SLOT;
}
