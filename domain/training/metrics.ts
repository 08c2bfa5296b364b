import type { CollectiveHour } from "./collectives.ts";
import type { Run } from "./identity.ts";
import type { ProgressPoint } from "./progress.ts";

/** The metrics of trainings that a Prometheus has. No method fails: an answer without a value has the reason. */
export interface TrainingMetrics {
  /** Returns the progress that the pods of runs report. */
  progress(runs: readonly Run[], now: number): Promise<MeasuredProgress>;
  /** Returns the collectives of a run's GPUs, hour by hour in a span of milliseconds since the epoch. */
  collectives(run: Run, span: { readonly from: number; readonly until: number }): Promise<Collected>;
}

/** The progress of runs, by their ids. */
export interface MeasuredProgress {
  /** In order of time. Runs without a report are absent. */
  readonly points: ReadonlyMap<string, readonly ProgressPoint[]>;
  /** The reasons why the progress of runs is not known, or not whole. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Hours of collectives, or the reason why they cannot be read. */
export type Collected = { readonly hours: readonly CollectiveHour[] } | { readonly failure: string };

/** The metrics without any server. */
export const NO_METRICS: TrainingMetrics = {
  progress: () => Promise.resolve({ points: new Map(), failures: new Map() }),
  collectives: () => Promise.resolve({ hours: [] }),
};
