/** One metric of the program. */
export interface MetricDefinition {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
  /** Values of its one label that exist at 0 from the start, so that the first increase is visible. */
  readonly known?: readonly string[];
}

/** Buckets of durations, in seconds. */
export const SECONDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];
