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

/**
 * Returns the runs of samples in order of time. NaN, which is also Prometheus' staleness marker, ends a run. Two samples that are further
 * apart than `gapMillis` belong to different runs.
 */
export function collectRuns(times: ArrayLike<number>, values: ArrayLike<number>, gapMillis: number): readonly Run[] {
  const runs: Run[] = [];
  let open: { readonly value: number; readonly fromMillis: number; untilMillis: number } | undefined;
  for (let index = 0; index < times.length; index++) {
    const [atMillis, value] = [times[index]!, values[index]!];
    const continues = open?.value === value && atMillis - open.untilMillis <= gapMillis;
    if (continues) open!.untilMillis = atMillis;
    else {
      if (open !== undefined) runs.push(open);
      open = Number.isNaN(value) ? undefined : { value, fromMillis: atMillis, untilMillis: atMillis };
    }
  }
  return open === undefined ? runs : [...runs, open];
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
