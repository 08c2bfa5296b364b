import type { MeasuredEnergy } from "../../../domain/allocation/segment.ts";

/** A half-open span of time in milliseconds since the epoch. */
interface Span {
  readonly from: number;
  readonly until: number;
}

/** The power draw of a GPU and its measurement by an exporter. */
export interface PoweredGpu {
  /** The times of the scrapes, in order. */
  readonly samples: readonly number[];
  readonly reachMillis: number;
  /** All power draws of the GPU. Without any of them nothing is measured. */
  readonly draws: readonly (Span & { readonly watts: number })[];
  /** The times at which the counter begins at 0 again. */
  readonly resets: readonly number[];
  readonly hasCounter: boolean;
}

/**
 * The energy of a GPU over a segment, reading by reading. With a counter, a reading's energy is the increase up to the next reading, spread evenly;
 * where the counter fell, the increase is the new value. Otherwise the energy is the read power, for as long as the reading is valid. Each reading's
 * part is the energy up to the segment's end minus the energy up to its beginning, in whole millijoules.
 */
export function energyOf(gpu: PoweredGpu, { from, until }: Span): MeasuredEnergy {
  let millijoules = 0n;
  let coveredMillis = 0;
  if (gpu.draws.length === 0) return { millijoules, coveredMillis };
  gpu.samples.forEach((at, place) => {
    const next = gpu.samples[place + 1] ?? Infinity;
    const end = Math.min(next, at + gpu.reachMillis);
    const [begin, finish] = [Math.max(at, from), Math.min(end, until)];
    if (begin >= finish) return;
    const isCounted = gpu.hasCounter && end === next;
    const amount = isCounted ? risen(counterAt(gpu, at), counterAt(gpu, next)) : BigInt(wattsAt(gpu, at));
    const inMillis = isCounted ? next - at : 1;
    const upTo = (moment: number): bigint => (amount * BigInt(moment - at)) / BigInt(inMillis);
    millijoules += upTo(finish) - upTo(begin);
    coveredMillis += finish - begin;
  });
  return { millijoules, coveredMillis };
}

function risen(before: bigint, after: bigint): bigint {
  return after >= before ? after - before : after;
}

function wattsAt({ draws }: PoweredGpu, at: number): number {
  return draws.filter(({ from, until }) => from <= at && at < until).reduce((sum, { watts }) => sum + watts, 0);
}

/** Watts times milliseconds are millijoules. */
function counterAt({ draws, resets }: PoweredGpu, at: number): bigint {
  const since = Math.max(-Infinity, ...resets.filter((reset) => reset <= at));
  const used = draws.map(({ watts, from, until }) => watts * Math.max(0, Math.min(until, at) - Math.max(from, since)));
  return BigInt(used.reduce((sum, each) => sum + each, 0));
}
