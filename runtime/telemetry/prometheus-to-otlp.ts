import type { HrTime } from "@opentelemetry/api";
import { metrics } from "@opentelemetry/sdk-node";
import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";

const { AggregationTemporality, DataPointType } = metrics;

/** A value of a Prometheus metric; `metricName` is the name of a histogram's series: `_bucket`, `_sum` or `_count`. */
type PrometheusValue = MetricValue<string> & { readonly metricName?: string };
type PrometheusMetric = MetricObjectWithValues<PrometheusValue>;

/** The times of the points of one collection. */
interface PointTimes {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/**
 * Returns the metrics of a registry in OpenTelemetry's data model, by the rules of its specification for Prometheus. Counters become
 * cumulative monotonic sums since `startMillis`. Gauges stay gauges. Each bucket of a histogram has its own count. Names and labels are
 * unchanged. Summaries are left out: this program has none.
 */
export async function toOtlpMetrics(
  registry: Registry,
  { startMillis, nowMillis }: { readonly startMillis: number; readonly nowMillis: number },
): Promise<metrics.MetricData[]> {
  const times = { startTime: toHrTime(startMillis), endTime: toHrTime(nowMillis) };
  const all = (await registry.getMetricsAsJSON()) as readonly PrometheusMetric[];
  return all.flatMap((metric) => toMetricData(metric, times) ?? []);
}

function toMetricData(metric: PrometheusMetric, times: PointTimes): metrics.MetricData | undefined {
  const { name, help, values } = metric;
  const descriptor = { name, description: help, unit: "", valueType: 1 };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  const dataPoints = (): metrics.DataPoint<number>[] =>
    values.map(({ value, labels }) => ({ ...times, attributes: labels, value }));
  // prom-client types this field as a number, but writes these words into it.
  switch (metric.type as unknown as string) {
    case "counter":
      return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: dataPoints() };
    case "gauge":
      return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: dataPoints() };
    case "histogram":
      return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: toHistograms(metric, times) };
    default:
      return undefined;
  }
}

/** Returns one histogram for each set of labels. Prometheus' buckets are cumulative, OpenTelemetry's are not. */
function toHistograms({ name, values }: PrometheusMetric, times: PointTimes): metrics.DataPoint<metrics.Histogram>[] {
  const series = new Map<string, PrometheusValue[]>();
  for (const value of values) {
    const { le: _, ...labels } = value.labels;
    const key = JSON.stringify(labels);
    series.set(key, [...(series.get(key) ?? []), value]);
  }
  return [...series.values()].map((ofSeries) => {
    const { le: _, ...attributes } = ofSeries[0]!.labels;
    const valueOf = (suffix: string): number =>
      ofSeries.find(({ metricName }) => metricName === `${name}_${suffix}`)?.value ?? 0;
    const buckets = ofSeries.filter(({ metricName }) => metricName === `${name}_bucket`);
    const counts = buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0));
    const boundaries = buckets.map(({ labels }) => Number(labels["le"])).filter(Number.isFinite);
    const value = { buckets: { boundaries, counts }, count: valueOf("count"), sum: valueOf("sum") };
    return { ...times, attributes, value };
  });
}

function toHrTime(millis: number): HrTime {
  return [Math.floor(millis / 1_000), (millis % 1_000) * 1_000_000];
}
