import type { Series } from "../target-series.ts";
import type { PrometheusClient } from "./client.ts";
import type { Matcher } from "./wire.ts";
import type { Samples } from "./xor-chunk.ts";

/** A half-open time, milliseconds since the epoch. */
export interface Span {
  readonly fromMillis: number;
  readonly untilMillis: number;
}

/**
 * Receives a series of an answer and returns the receiver of its samples. The series of equal names and labels is the same object in each
 * answer, as long as the source remembers the series. A series can come more than once in one answer.
 */
export type OnSeries = (series: Series) => OnSamples;

/** Receives samples of a series. */
export type OnSamples = (samples: Samples) => void;

/** Reads samples in one way. `known` returns the series for a key, and makes the series of a new key with `make`. */
export type ReadSamples = (
  client: PrometheusClient,
  matchers: readonly Matcher[],
  span: Span,
  known: (key: string, make: () => Series) => Series,
  onSeries: OnSeries,
) => Promise<void>;
