import { parseValue } from "../../exporters/exposition/value.ts";
import type { Series } from "../target-series.ts";
import type { PrometheusClient } from "./client.ts";
import { inParts } from "./in-parts.ts";
import { SourceError } from "./source-error.ts";
import type { ReadSamples, Span } from "./samples.ts";
import type { Matcher } from "./wire.ts";

/** A series of a query's result. Times are in seconds since the epoch. */
export interface QueriedSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [at: number, value: string];
  readonly values?: readonly (readonly [at: number, value: string])[];
}

/** Returns matchers as a selector of PromQL. */
export function selectorOf(matchers: readonly Matcher[]): string {
  return `{${matchers.map(({ label, is, value }) => `${label}${is}${JSON.stringify(value)}`).join(",")}}`;
}

/** Returns whether a value of an answer is a list. */
export function isList(value: unknown): boolean {
  return Array.isArray(value);
}

/** Returns the result of an expression at a time. Fails with a `SourceError`. */
export async function query(
  client: PrometheusClient,
  expression: string,
  atMillis: number,
): Promise<readonly QueriedSeries[]> {
  const form = { query: expression, time: String(atMillis / 1000) };
  return resultOf(await client.ask("/api/v1/query", form));
}

/**
 * Returns the result of an expression at each step of a span, without its end. If the server refuses the answer as too large, it comes in
 * parts: a series is then in the result several times, in the order of time. Fails with a `SourceError`.
 */
export async function queryRange(
  client: PrometheusClient,
  expression: string,
  span: Span,
  stepMillis: number,
): Promise<readonly QueriedSeries[]> {
  const found: (readonly QueriedSeries[])[] = [];
  await inParts(span, stepMillis, async ({ fromMillis, untilMillis }) => {
    const [start, end, step] = [fromMillis, untilMillis - 1, stepMillis].map((millis) => String(millis / 1000));
    const form = { query: expression, start: start!, end: end!, step: step! };
    found.push(resultOf(await client.ask("/api/v1/query_range", form)));
  });
  return found.flat();
}

function resultOf({ result }: { readonly result?: readonly QueriedSeries[] }): readonly QueriedSeries[] {
  if (result === undefined || !isList(result))
    throw new SourceError("broken", "the data of an answer has no list of results");
  return result;
}

/** The coarser samples of Thanos, which are tried if a time has no raw ones. */
const RESOLUTIONS = ["0s", "5m", "1h"];

/**
 * Reads samples by a query with a range selector, which returns raw samples with their own times. Thanos keeps only coarser samples of old
 * times. Other servers ignore the resolution.
 */
export const readByQuery: ReadSamples = async (client, matchers, span, known, onSeries) => {
  const { fromMillis, untilMillis } = span;
  const form = {
    query: `${selectorOf(matchers)}[${untilMillis - fromMillis}ms]`,
    time: String((untilMillis - 1) / 1000),
  };
  for (const resolution of RESOLUTIONS) {
    const result = resultOf(await client.ask("/api/v1/query", { ...form, max_source_resolution: resolution }));
    for (const { metric, values = [] } of result) {
      onSeries(known(JSON.stringify(metric), () => seriesOf(metric)))({
        times: Float64Array.from(values, ([seconds]) => Math.round(seconds * 1000)),
        values: Float64Array.from(values, ([, value]) => parseValue(value) ?? Number.NaN),
        count: values.length,
      });
    }
    if (result.length > 0) return;
  }
};

function seriesOf({ __name__: name = "", ...labels }: Readonly<Record<string, string>>): Series {
  return { name, labels: new Map(Object.entries(labels)) };
}
