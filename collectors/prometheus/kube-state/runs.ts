import type { Series } from "../target-series.ts";

/** A stretch of samples of one series with the same value and without a gap. Times are milliseconds since the epoch. */
export interface Run {
  readonly value: number;
  /** The time of the first sample. */
  readonly fromMillis: number;
  /** The time of the last sample. */
  readonly untilMillis: number;
}

/** A series with its samples as runs, in order of time. */
export interface SeriesRuns extends Series {
  readonly runs: readonly Run[];
}

/** A span of time. Both ends belong to it. */
export interface Span {
  readonly fromMillis: number;
  readonly untilMillis: number;
}

/** The runs of a series while its samples are read. */
export interface OpenRuns {
  /** Takes samples of a half-open span, in the order of time. Samples outside, and samples that were taken before, are ignored. */
  take(samples: RunSamples, span: Span): void;
  all(): readonly Run[];
}

/** The samples of a series: the first `count` times and values. */
export interface RunSamples {
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  readonly count: number;
}

/**
 * Creates the runs of a series without a sample. NaN, which is also Prometheus' staleness marker, ends a run. Two samples that are further
 * apart than `gapMillis` belong to different runs.
 */
export function createOpenRuns(gapMillis: number): OpenRuns {
  const runs: { readonly value: number; readonly fromMillis: number; untilMillis: number }[] = [];
  let last: (typeof runs)[number] | undefined;
  let reachedMillis = -Infinity;
  return {
    take({ times, values, count }, { fromMillis, untilMillis }) {
      for (let index = 0; index < count; index++) {
        const at = times[index]!;
        if (at < fromMillis || at >= untilMillis || at <= reachedMillis) continue;
        reachedMillis = at;
        const value = values[index]!;
        if (last?.value === value && at - last.untilMillis <= gapMillis) last.untilMillis = at;
        else if (Number.isNaN(value)) last = undefined;
        else runs.push((last = { value, fromMillis: at, untilMillis: at }));
      }
    },
    all: () => runs,
  };
}

/** Returns the runs within a span. A run across an end of the span is cut there. */
export function runsWithin(runs: readonly Run[], { fromMillis, untilMillis }: Span): readonly Run[] {
  const isInside = runs.every((run) => run.fromMillis >= fromMillis && run.untilMillis <= untilMillis);
  if (isInside) return runs;
  return runs
    .filter((run) => run.fromMillis <= untilMillis && run.untilMillis >= fromMillis)
    .map((run) => ({
      ...run,
      fromMillis: Math.max(run.fromMillis, fromMillis),
      untilMillis: Math.min(run.untilMillis, untilMillis),
    }));
}
