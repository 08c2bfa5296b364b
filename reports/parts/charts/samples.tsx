import { counted } from "../../../domain/counted.ts";
import type { VNode } from "preact";
import type { MeasuredSample } from "../../read/samples.ts";
import { utc } from "../time.ts";
import { AXIS, Chart } from "./chart.tsx";

/** The activity of a device, sample by sample. Each sample is valid up to the next one, so the line has steps. */
export function SamplesChart({ samples, from, until }: SamplesChartProps): VNode {
  const option = {
    grid: { left: 52, right: 12, top: 12, bottom: 26 },
    xAxis: {
      type: "value",
      min: from,
      max: until,
      interval: (until - from) / 6,
      ...AXIS,
      axisLabel: { ...AXIS.axisLabel, formatter: (at: number) => utc(at).slice(11, 16) },
      splitLine: { show: false },
    },
    yAxis: {
      type: "value",
      min: 0,
      max: 1,
      ...AXIS,
      axisLabel: { ...AXIS.axisLabel, formatter: (ratio: number) => `${Math.round(ratio * 100)} %` },
    },
    series: [
      {
        type: "line",
        step: "end",
        silent: true,
        symbol: "circle",
        symbolSize: 3,
        lineStyle: { color: "var(--active)", width: 1.5 },
        itemStyle: { color: "var(--active)" },
        data: samples.map(({ at, activityRatio }) => [at, activityRatio]),
      },
    ],
  };
  const known = samples.flatMap(({ activityRatio }) => activityRatio ?? []);
  const [least, most] = [Math.min(...known), Math.max(...known)].map((ratio) => `${(ratio * 100).toFixed(0)} %`);
  const range = known.length === 0 ? "no measured activity" : `activity from ${least} to ${most}`;
  return (
    <Chart
      option={option}
      label={`${counted(samples.length, "sample")} from ${utc(from)} to ${utc(until)}: ${range}.`}
    />
  );
}

interface SamplesChartProps {
  readonly samples: readonly MeasuredSample[];
  /** The time of the chart, milliseconds since the epoch. */
  readonly from: number;
  readonly until: number;
}
