import type { Span } from "../plan/node-record.ts";

/**
 * Repeats a row of samples for each of several spans that its time is in: an ARRAY JOIN with the column `span`, which counts from 1. The
 * statement gets {@link spanParameters} and groups by `span`, so it returns for each span what a statement for this span alone returns.
 */
export const IN_SPANS = `ARRAY JOIN arrayFilter(
  (each, begin, end) -> scraped_at >= fromUnixTimestamp64Milli(begin) AND scraped_at < fromUnixTimestamp64Milli(end),
  arrayEnumerate({begins:Array(Int64)}), {begins:Array(Int64)}, {ends:Array(Int64)}) AS span`;

/** A condition that is true for all rows of {@link IN_SPANS}, by which the store finds their parts. */
export const AROUND_SPANS = `scraped_at >= fromUnixTimestamp64Milli(arrayMin({begins:Array(Int64)}))
  AND scraped_at < fromUnixTimestamp64Milli(arrayMax({ends:Array(Int64)}))`;

/** Returns the parameters of {@link IN_SPANS}. */
export function spanParameters(spans: readonly Span[]): Readonly<Record<string, readonly number[]>> {
  return { begins: spans.map(({ from }) => from), ends: spans.map(({ until }) => until) };
}

/** Returns rows with a column `span` in a list for each of the spans, without that column. */
export function bySpan<Row extends object>(
  rows: readonly (Row & { readonly span: number })[],
  spans: readonly unknown[],
): readonly (readonly Row[])[] {
  const all = spans.map((): Row[] => []);
  for (const { span, ...row } of rows) all[span - 1]!.push(row as unknown as Row);
  return all;
}
