import type { VNode } from "preact";
import { DAY_MILLIS, HOUR_MILLIS } from "../../../domain/time.ts";
import { utc } from "../time.ts";
import { AXIS, Chart } from "./chart.tsx";
import { Legend } from "./legend.tsx";

/** A line of a chart: a value for each hour of the time; -1 without a sample. */
export interface HourLine {
  readonly name: string;
  readonly values: readonly number[];
  /** A color of the page's style. */
  readonly color: string;
}

/** The most points of a line. A longer time has the highest value of several hours at each point. */
const MOST_POINTS = 168;

/** Values of each hour of a time as lines, with a gap where there is no sample, and a legend for several lines. */
export function HoursChart({ lines, from, unit, most, height = 160, title }: HoursChartProps): VNode {
  const hours = Math.max(...lines.map(({ values }) => values.length));
  const step = Math.max(1, Math.ceil(hours / MOST_POINTS));
  const option = {
    grid: { left: 64, right: 12, top: 12, bottom: 26 },
    xAxis: {
      type: "value",
      min: from,
      max: from + hours * HOUR_MILLIS,
      ...AXIS,
      axisLabel: { ...AXIS.axisLabel, hideOverlap: true, formatter: (at: number) => utc(at).slice(5, 10) },
      interval: Math.ceil(hours / 24 / 7) * DAY_MILLIS,
      splitLine: { show: false },
    },
    yAxis: {
      type: "value",
      min: 0,
      ...(most === undefined
        ? { splitNumber: 3, minInterval: unit === "" ? 1 : 0 }
        : { max: most, interval: most / 4 }),
      ...AXIS,
      axisLabel: { ...AXIS.axisLabel, formatter: (value: number) => `${value} ${unit}` },
    },
    series: lines.map(({ values, color }) => ({
      type: "line",
      silent: true,
      symbol: "none",
      connectNulls: false,
      lineStyle: { color, width: 1.5 },
      data: pointsOf(values, step).map((value, point) => [from + point * step * HOUR_MILLIS, value]),
    })),
  };
  const label = lines.map(({ name, values }) => `${name}: ${rangeOf(values, unit)}`).join("; ");
  return (
    <>
      <Chart option={option} label={`${title}. ${label}.`} height={height} />
      {lines.length > 1 && <Legend parts={lines} />}
    </>
  );
}

interface HoursChartProps {
  readonly title: string;
  readonly lines: readonly HourLine[];
  /** The start of the first hour, milliseconds since the epoch. */
  readonly from: number;
  readonly unit: string;
  /** The end of the scale; absent if it follows from the values. */
  readonly most?: number;
  readonly height?: number;
}

/** Returns the highest value of each `step` hours; null without a sample. */
function pointsOf(values: readonly number[], step: number): readonly (number | null)[] {
  return Array.from({ length: Math.ceil(values.length / step) }, (_, point) => {
    const highest = Math.max(...values.slice(point * step, (point + 1) * step));
    return highest < 0 ? null : highest;
  });
}

function rangeOf(values: readonly number[], unit: string): string {
  const known = values.filter((value) => value >= 0);
  return known.length === 0 ? "no samples" : `${Math.min(...known)} to ${Math.max(...known)} ${unit}`;
}
