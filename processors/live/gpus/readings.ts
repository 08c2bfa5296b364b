import { activityPpm, WHOLE_PPM } from "../../../domain/activity.ts";
import { MOST_OF_UNIT, type MetricUnit } from "../../../domain/metric.ts";
import type { Scrape } from "../../../domain/scrape.ts";

/** The index of each reading in a row of {@link readRows}. */
export const READING = {
  activity: 0,
  memoryUsed: 1,
  memoryTotal: 2,
  temperature: 3,
  power: 4,
  processActivity: 5,
  processMemoryUsed: 6,
} as const;

/** The number of readings of a row. */
export const READINGS = Object.keys(READING).length;

const ACTIVITIES = ["gr_engine_active_ratio", "gpu_utilization_ratio", "sm_active_ratio"];
const COLUMNS = [
  ...ACTIVITIES,
  "process_utilization_ratio",
  "fb_used_bytes",
  "fb_free_bytes",
  "fb_reserved_bytes",
  "fb_total_bytes",
  "process_fb_used_bytes",
  "gpu_temperature_celsius",
  "power_watts",
];

/** The index of each needed column in a shape; -1 if the shape lacks it. */
export type ColumnIndexes = Int32Array;

/** Returns the indexes of a shape's columns. */
export function indexesOf(columns: readonly string[]): ColumnIndexes {
  return Int32Array.from(COLUMNS, (name) => columns.indexOf(name));
}

/**
 * Reads the values for the series from every row of a scrape into `into` ({@link READINGS} numbers per row): the activity and the process's
 * own as ratios, memory in bytes, degrees Celsius, watts. NaN for missing and impossible values.
 */
export function readRows({ values, shape }: Scrape, indexes: ColumnIndexes, into: Float64Array): void {
  const width = shape.columns.length;
  const [graphics, utilization, sm, process, used, free, reserved, total, processUsed, celsius, watts] = indexes;
  for (let row = 0; row < shape.devices.length; row++) {
    const base = row * width;
    const at = (index: number): number => (index < 0 ? Number.NaN : values[base + index]!);
    const out = row * READINGS;
    const memoryUsed = within(at(used!), "bytes");
    const sum = memoryUsed + within(at(free!), "bytes") + (at(reserved!) || 0);
    const whole = within(at(total!), "bytes");
    into[out + READING.activity] = ratio(at(graphics!), at(utilization!), at(sm!));
    into[out + READING.memoryUsed] = memoryUsed;
    into[out + READING.memoryTotal] = Number.isNaN(whole) ? sum : whole;
    into[out + READING.temperature] = toThousandths(within(at(celsius!), "celsius"));
    into[out + READING.power] = toThousandths(within(at(watts!), "watts"));
    into[out + READING.processActivity] = ratio(at(process!), Number.NaN, Number.NaN);
    into[out + READING.processMemoryUsed] = within(at(processUsed!), "bytes");
  }
}

function ratio(one: number, other: number, third: number): number {
  const ppm = activityPpm(one, other, third);
  return ppm === undefined ? Number.NaN : ppm / WHOLE_PPM;
}

/**
 * Returns the value if it is within the bounds of its unit, otherwise NaN. The collector keeps values within these bounds; any other value
 * on the bus is invalid.
 */
function within(value: number, unit: MetricUnit): number {
  const least = unit === "celsius" ? -MOST_OF_UNIT.celsius : 0;
  return value >= least && value <= MOST_OF_UNIT[unit] ? value : Number.NaN;
}

/** Rounds to the precision of the store. */
function toThousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
