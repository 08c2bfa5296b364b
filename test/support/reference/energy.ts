import type { MeasuredEnergy } from "../../../domain/allocation/segment.ts";

/** A time, milliseconds since the epoch, half-open. */
interface Span {
  readonly from: number;
  readonly until: number;
}

/** What a GPU draws, and what an exporter can tell of that. */
export interface PoweredGpu {
  /** When it is scraped, in order. */
  readonly samples: readonly number[];
  readonly reachMillis: number;
  /** All that draws from it; where nothing does, nothing is measured. */
  readonly draws: readonly (Span & { readonly watts: number })[];
  /** When its counter begins at 0 again. */
  readonly resets: readonly number[];
  readonly hasCounter: boolean;
}

/**
 * The energy of a GPU over a segment, reading by reading: what the counter rose by up to the next reading, which is all that it
 * shows where it fell, spread evenly; else the power as it was read, for as long as the reading speaks. Each reading's part is what
 * was used up to the segment's end less what was used up to its beginning, in whole millijoules.
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
