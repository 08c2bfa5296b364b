import type { VNode } from "preact";
import { groupedBy } from "../../../domain/grouped.ts";
import { counted } from "../../../domain/counted.ts";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../../../domain/time.ts";
import type { StretchPhase, Timeline } from "../../../domain/training/timeline.ts";
import { utc } from "../time.ts";
import { AXIS, Chart } from "./chart.tsx";
import { Legend } from "./legend.tsx";

const PARTS: readonly { readonly phase: StretchPhase; readonly name: string; readonly color: string }[] = [
  { phase: "starting", name: "starting", color: "var(--free)" },
  { phase: "training", name: "training", color: "var(--active)" },
  { phase: "checkpointing", name: "checkpointing", color: "var(--other)" },
  { phase: "recovering", name: "recovering", color: "var(--waiting)" },
  { phase: "lost", name: "lost progress", color: "var(--idle)" },
  { phase: "lost-estimated", name: "lost progress (estimated)", color: "var(--unobserved)" },
];

/** The limit of rows. The rows of most pods of a gang are equal. */
const MOST_ROWS = 8;
const ROW_HEIGHT = 22;

/** A run over time: a row for each different timeline of its pods, with its parts and, as triangles, its stops. */
export function TimelineChart({ timelines, from, until }: TimelineChartProps): VNode {
  const rows = [...groupedBy(timelines, (timeline) => JSON.stringify(timeline.stretches))].map(([, equal]) => equal);
  const shown = rows.slice(0, MOST_ROWS);
  const barsOf = (phase: StretchPhase): readonly (readonly [number, number | null])[] =>
    shown.flatMap(([{ stretches }], row) =>
      stretches.flatMap((stretch) => {
        const [begin, end] = [Math.max(stretch.from, from), Math.min(stretch.until, until)];
        if (stretch.phase !== phase || begin >= end) return [];
        return [[begin, row + 0.5] as const, [end, row + 0.5] as const, [end, null] as const];
      }),
    );
  const parts = PARTS.map((part) => ({ ...part, data: barsOf(part.phase) })).filter(({ data }) => data.length > 0);
  const stops = shown.flatMap(([timeline], row) => timeline.stops.map(({ at }) => [at, row + 0.5]));
  const isLong = until - from > DAY_MILLIS;
  const option = {
    grid: { left: 76, right: 12, top: 6, bottom: 26 },
    xAxis: {
      type: "value",
      min: from,
      max: until,
      ...AXIS,
      axisLabel: {
        ...AXIS.axisLabel,
        hideOverlap: true,
        formatter: (at: number) => (isLong ? utc(at).slice(5, 16) : utc(at).slice(11, 16)),
      },
      interval: stepOf(until - from),
      splitLine: { show: false },
    },
    yAxis: {
      type: "value",
      min: 0,
      max: shown.length,
      interval: 1,
      inverse: true,
      ...AXIS,
      axisLabel: {
        ...AXIS.axisLabel,
        verticalAlign: "top",
        lineHeight: ROW_HEIGHT,
        formatter: (row: number) => (shown.length > 1 && row < shown.length ? counted(shown[row]!.length, "pod") : ""),
      },
      splitLine: { show: false },
    },
    series: [
      ...parts.map(({ data, color }) => ({
        type: "line",
        silent: true,
        symbol: "none",
        connectNulls: false,
        lineStyle: { color, width: 12, cap: "butt" },
        data,
      })),
      {
        type: "line",
        silent: true,
        symbol: "triangle",
        symbolSize: 9,
        lineStyle: { opacity: 0 },
        itemStyle: { color: "var(--warn)" },
        data: stops,
      },
    ],
  };
  const label = `The run from ${utc(from)} to ${utc(until)}: ${parts.map(({ name }) => name).join(", ")}.`;
  return (
    <>
      <Chart option={option} label={label} height={shown.length * ROW_HEIGHT + 36} />
      <Legend parts={parts}>
        {stops.length > 0 && <li class="quiet">▲ stop</li>}
        {rows.length > shown.length && <li class="quiet">{`and ${rows.length - shown.length} more rows`}</li>}
      </Legend>
    </>
  );
}

/** The lengths between two times of the axis. */
const STEPS = [5 * MINUTE_MILLIS, 15 * MINUTE_MILLIS, HOUR_MILLIS, 3 * HOUR_MILLIS, 12 * HOUR_MILLIS, DAY_MILLIS];
const MOST_STEPS = 8;

function stepOf(millis: number): number {
  return STEPS.find((step) => millis / step <= MOST_STEPS) ?? Math.ceil(millis / DAY_MILLIS / MOST_STEPS) * DAY_MILLIS;
}

interface TimelineChartProps {
  readonly timelines: readonly Timeline[];
  /** The time of the run, milliseconds since the epoch. */
  readonly from: number;
  readonly until: number;
}
