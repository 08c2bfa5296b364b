import type { VNode } from "preact";
import { DAY_MILLIS, HOUR_MILLIS } from "../../../domain/time.ts";
import { isThrottled } from "../../../domain/fleet/throttling.ts";
import type { DeviceEvent } from "../../read/device-events.ts";
import type { HourlyCost } from "../../read/hourly-cost.ts";
import type { Measure, MeasuredStep, MeasuredTime } from "../../read/measurements.ts";
import { utc } from "../time.ts";
import { AXIS, Chart } from "./chart.tsx";
import { Legend } from "./legend.tsx";

/** The rows of the chart: each a measurement with its unit and the end of its scale. */
const ROWS: readonly {
  readonly measure: Measure;
  readonly title: string;
  readonly unit: string;
  readonly factor: number;
  readonly most?: number;
}[] = [
  { measure: "activity", title: "activity", unit: "%", factor: 100, most: 100 },
  { measure: "memory", title: "memory", unit: "%", factor: 100, most: 100 },
  { measure: "temperature", title: "temperature", unit: "°C", factor: 1 },
  { measure: "power", title: "power", unit: "W", factor: 1 },
];

const ROW_HEIGHT = 84;
const GAP = 26;
const LANE_HEIGHT = 18;
/** The limit of holders with a lane of their own. */
const MOST_LANES = 7;
/** More steps than these without a sample are a gap. One step can be empty when samples come as rarely as steps. */
const GAP_STEPS = 2.5;

/**
 * Measurements, cost, holders and events of some GPUs on one axis of time. The line is the mean. The area is from the lowest to the highest
 * GPU. Times without samples are gaps.
 */
export function MeasurementsChart(props: MeasurementsChartProps): VNode {
  const { steps, time, costs, currency, events, label } = props;
  const rows = ROWS.filter(({ measure }) => steps.some((step) => step[measure].mean !== null));
  const lanes = lanesOf(steps, time);
  const measured = rows.flatMap((row, index) => measuredSeries(row, index, props));
  const withCosts = costs.length > 0;
  const laneGrid = rows.length + Number(withCosts);
  const heights = [...rows.map(() => ROW_HEIGHT), ...(withCosts ? [ROW_HEIGHT] : []), (lanes.length + 1) * LANE_HEIGHT];
  const tops = heights.map((_, index) => 20 + heights.slice(0, index).reduce((sum, height) => sum + height + GAP, 0));
  const titles = [
    ...rows.map(({ title, unit }) => `${title} in ${unit}`),
    ...(withCosts ? [`cost in ${currency} per hour`] : []),
    "holders and events",
  ];
  const option = {
    grid: heights.map((height, index) => ({ left: 52, right: 12, top: tops[index]!, height })),
    xAxis: heights.map((_, index) => ({
      type: "value",
      gridIndex: index,
      min: time.from,
      max: time.until,
      ...AXIS,
      axisLabel: {
        ...AXIS.axisLabel,
        show: index === heights.length - 1,
        hideOverlap: true,
        formatter: (at: number) => axisText(at, time),
      },
      interval: intervalOf(time),
      splitLine: { show: true, lineStyle: { color: "var(--rule)" } },
    })),
    yAxis: heights.map((_, index) => ({
      type: "value",
      gridIndex: index,
      ...AXIS,
      ...(index === laneGrid
        ? { min: 0, max: lanes.length + 1, inverse: true, axisLabel: { show: false }, splitLine: { show: false } }
        : {
            min: 0,
            ...(rows[index]?.most === undefined ? { splitNumber: 2 } : { max: rows[index].most, interval: 50 }),
          }),
      name: titles[index],
      nameLocation: index === laneGrid ? "start" : "end",
      nameGap: 6,
      nameTextStyle: { align: "left", color: "var(--quiet)", fontSize: 12, padding: [0, 0, 0, -44] },
    })),
    series: [
      ...measured,
      ...(withCosts ? [costSeries(costs, rows.length, time)] : []),
      ...lanes.map((lane, index) => laneSeries(lane, index, laneGrid)),
      throttledSeries(steps, time, lanes.length, laneGrid),
      eventSeries(events, lanes.length, laneGrid),
    ],
  };
  const last = tops.length - 1;
  return (
    <>
      <Chart option={option} label={label} height={tops[last]! + heights[last]! + 24} />
      <Lanes lanes={lanes} count={holdersOf(steps).length} />
    </>
  );
}

interface MeasurementsChartProps {
  readonly steps: readonly MeasuredStep[];
  readonly time: MeasuredTime;
  readonly costs: readonly HourlyCost[];
  readonly currency: string;
  readonly events: readonly DeviceEvent[];
  /** The description of the chart for screen readers. */
  readonly label: string;
}

type Point = readonly [at: number, value: number | null];

/** Returns values at their times, with an empty value in each gap. */
function pointsOf(
  steps: readonly MeasuredStep[],
  { stepMillis }: MeasuredTime,
  valueOf: (step: MeasuredStep) => number | null,
): readonly Point[] {
  return steps.flatMap((step, index): readonly Point[] => {
    const before = steps[index - 1];
    const isGap = before !== undefined && step.at - before.at > GAP_STEPS * stepMillis;
    const point: Point = [step.at + stepMillis / 2, valueOf(step)];
    return isGap ? [[before.at + stepMillis, null], point] : [point];
  });
}

/** The mean as a line, over an area from the least to the most. */
function measuredSeries(
  { measure, factor }: (typeof ROWS)[number],
  index: number,
  { steps, time }: Pick<MeasurementsChartProps, "steps" | "time">,
): readonly object[] {
  const scaled = (value: number | null): number | null => (value === null ? null : value * factor);
  const base = { type: "line", silent: true, symbol: "none", xAxisIndex: index, yAxisIndex: index };
  const area = { ...base, stack: measure, lineStyle: { opacity: 0 } };
  const means = pointsOf(steps, time, (step) => scaled(step[measure].mean));
  const hasValue = (point: Point | undefined): boolean => typeof point?.[1] === "number";
  return [
    { ...area, data: pointsOf(steps, time, (step) => scaled(step[measure].least)) },
    {
      ...area,
      areaStyle: { color: "var(--active)", opacity: 0.22 },
      data: pointsOf(steps, time, (step) => {
        const { least, most } = step[measure];
        return least === null || most === null ? null : (most - least) * factor;
      }),
    },
    {
      ...base,
      lineStyle: { color: "var(--active)", width: 1.5 },
      itemStyle: { color: "var(--active)" },
      // A value between two gaps has no line. It is a dot.
      symbol: (_: unknown, { dataIndex: at }: { readonly dataIndex: number }) =>
        hasValue(means[at - 1]) || hasValue(means[at + 1]) ? "none" : "circle",
      symbolSize: 3,
      data: means,
    },
  ];
}

function costSeries(costs: readonly HourlyCost[], index: number, { from, until }: MeasuredTime): object {
  const within = costs.filter(({ at }) => at + HOUR_MILLIS > from && at < until);
  return {
    type: "line",
    silent: true,
    symbol: "none",
    step: "end",
    xAxisIndex: index,
    yAxisIndex: index,
    lineStyle: { color: "var(--ink)", width: 1 },
    areaStyle: { color: "var(--idle)", opacity: 0.35 },
    data: within.flatMap(({ at, cost }) => [
      [Math.max(at, from), cost],
      [Math.min(at + HOUR_MILLIS, until), cost],
    ]),
  };
}

/** A holder and the times in which it held, each from its beginning to its end. */
interface Lane {
  readonly holder: string;
  readonly times: readonly (readonly [from: number, until: number])[];
  readonly color: string;
}

const LANE_COLORS = ["--active", "--idle", "--other", "--unobserved", "--waiting", "--gone", "--free"] as const;

function holdersOf(steps: readonly MeasuredStep[]): readonly string[] {
  return [...new Set(steps.flatMap(({ holders }) => holders))];
}

/** Returns the holders with the most time, in the order in which they began. */
function lanesOf(steps: readonly MeasuredStep[], { stepMillis }: MeasuredTime): readonly Lane[] {
  const byHolder = new Map<string, [number, number][]>();
  for (const { at, holders } of steps)
    for (const holder of holders) {
      const times = byHolder.get(holder) ?? [];
      const last = times.at(-1);
      if (last !== undefined && at - last[1] < GAP_STEPS * stepMillis) last[1] = at + stepMillis;
      else times.push([at, at + stepMillis]);
      byHolder.set(holder, times);
    }
  const lengthOf = ([, times]: readonly [string, [number, number][]]): number =>
    times.reduce((sum, [from, until]) => sum + until - from, 0);
  return [...byHolder]
    .toSorted((a, b) => lengthOf(b) - lengthOf(a))
    .slice(0, MOST_LANES)
    .toSorted(([, [a]], [, [b]]) => a![0] - b![0])
    .map(([holder, times], index) => ({ holder, times, color: `var(${LANE_COLORS[index]!})` }));
}

function laneSeries({ times, color }: Lane, index: number, grid: number): object {
  return {
    type: "line",
    silent: true,
    symbol: "none",
    xAxisIndex: grid,
    yAxisIndex: grid,
    connectNulls: false,
    lineStyle: { color, width: 9, cap: "butt" },
    data: times.flatMap(([from, until]) => [
      [from, index + 0.5],
      [until, index + 0.5],
      [until, null],
    ]),
  };
}

/** The steps in which heat or the power brake slowed a GPU, as a bar in the lane of events. */
function throttledSeries(
  steps: readonly MeasuredStep[],
  { stepMillis }: MeasuredTime,
  lane: number,
  grid: number,
): object {
  return {
    type: "line",
    silent: true,
    symbol: "none",
    xAxisIndex: grid,
    yAxisIndex: grid,
    connectNulls: false,
    lineStyle: { color: "var(--warn)", width: 4, cap: "butt" },
    data: steps.flatMap(({ at, clockReasons }) =>
      isThrottled(clockReasons)
        ? [
            [at, lane + 0.5],
            [at + stepMillis, lane + 0.5],
            [at + stepMillis, null],
          ]
        : [],
    ),
  };
}

function eventSeries(events: readonly DeviceEvent[], lane: number, grid: number): object {
  return {
    type: "line",
    silent: true,
    xAxisIndex: grid,
    yAxisIndex: grid,
    lineStyle: { opacity: 0 },
    symbol: (_: unknown, { dataIndex }: { readonly dataIndex: number }) =>
      events[dataIndex]?.kind === "xid" ? "diamond" : "triangle",
    symbolSize: 11,
    itemStyle: { color: "var(--warn)" },
    data: events.map(({ at }) => [at, lane + 0.5]),
  };
}

/** The legend of the lanes, from top to bottom, and of the events below them. */
function Lanes({ lanes, count }: { readonly lanes: readonly Lane[]; readonly count: number }): VNode {
  return (
    <Legend parts={lanes.map(({ holder, color }) => ({ name: holder, color }))}>
      {count > lanes.length && <li class="quiet">{`and ${count - lanes.length} more holders with less time`}</li>}
      <li class="quiet">◆ XID, ▲ restart of a pod, ▬ slowed by heat or the power brake</li>
    </Legend>
  );
}

function intervalOf({ from, until }: MeasuredTime): number {
  const whole = until - from;
  if (whole <= HOUR_MILLIS) return HOUR_MILLIS / 6;
  return whole <= DAY_MILLIS ? DAY_MILLIS / 8 : DAY_MILLIS;
}

function axisText(at: number, { from, until }: MeasuredTime): string {
  return until - from > DAY_MILLIS ? utc(at).slice(5, 10) : utc(at).slice(11, 16);
}
