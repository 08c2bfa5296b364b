import { DAY_MILLIS } from "../../../domain/time.ts";
import { createOpenRuns, type OpenRuns, type SeriesRuns } from "../kube-state/runs.ts";
import type { PrometheusClient } from "../read/client.ts";
import { inParts } from "../read/in-parts.ts";
import { queryRange, selectorOf } from "../read/query.ts";
import type { SampleSource } from "../read/source.ts";
import type { Span } from "../read/samples.ts";
import type { Matcher } from "../read/wire.ts";
import type { Series } from "../target-series.ts";

/** The step at which states are read by queries: all their samples would be too many. */
const QUERY_STEP_MILLIS = 60_000;

/**
 * Reads series whose values rarely change, as runs of equal values. Samples that are further apart than `gapMillis` belong to different runs.
 * By remote read the runs have the times of samples; by queries they are exact to a minute. Fails with a `SourceError`.
 */
export async function readRuns(
  { client, source }: { readonly client: PrometheusClient; readonly source: SampleSource },
  matchers: readonly Matcher[],
  span: Span,
  gapMillis: number,
): Promise<readonly SeriesRuns[]> {
  const found = new Map<string, { readonly series: Series; readonly runs: OpenRuns }>();
  const runsOf = (series: Series): OpenRuns => {
    const key = JSON.stringify([series.name, ...series.labels]);
    const known = found.get(key) ?? { series, runs: createOpenRuns(gapMillis) };
    found.set(key, known);
    return known.runs;
  };
  for (let at = span.fromMillis; at < span.untilMillis; at += DAY_MILLIS) {
    const day = { fromMillis: at, untilMillis: Math.min(at + DAY_MILLIS, span.untilMillis) };
    if (source.way === "remote read") {
      await inParts(day, QUERY_STEP_MILLIS, (part) =>
        source.read(matchers, part, (series) => {
          const runs = runsOf(series);
          return (samples) => runs.take(samples, part);
        }),
      );
    } else await queryDay(client, matchers, day, runsOf);
  }
  return [...found.values()].map(({ series, runs }) => ({ ...series, runs: runs.all() }));
}

async function queryDay(
  client: PrometheusClient,
  matchers: readonly Matcher[],
  day: Span,
  runsOf: (series: Series) => OpenRuns,
): Promise<void> {
  for (const { metric, values = [] } of await queryRange(client, selectorOf(matchers), day, QUERY_STEP_MILLIS)) {
    const { __name__: name = "", ...labels } = metric;
    runsOf({ name, labels: new Map(Object.entries(labels)) }).take(
      {
        times: Float64Array.from(values, ([seconds]) => Math.round(seconds * 1000)),
        values: Float64Array.from(values, ([, value]) => Number(value)),
        count: values.length,
      },
      day,
    );
  }
}
