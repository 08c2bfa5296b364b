import { activityPpm } from "../../domain/activity.ts";
import type { Holder } from "../../domain/holder.ts";
import { METRICS, METRIC_BY_NAME } from "../../domain/metric.ts";
import type { Scrape, ScrapeShape } from "../../domain/scrape.ts";
import { takeBlock, type NativeColumn } from "../../runtime/store/native/block.ts";
import { numberColumn, type NumberColumn } from "../../runtime/store/native/numbers.ts";
import { mapColumn, textColumn, textKeys, type TextColumn, type TextKeys } from "../../runtime/store/native/texts.ts";
import { createByteWriter } from "../../runtime/store/native/byte-writer.ts";
import { OTHER_SAMPLE_TYPES, SAMPLE_TEXTS, UNIT_TYPES } from "../../runtime/store/schema/samples.ts";
import type { JoinedScrape } from "./steps/join.ts";

/** The plan for a metric of a page: its column, its position and its range. */
interface MetricPlan {
  readonly column: NumberColumn;
  /** The index of the value in a row of the message. */
  readonly index: number;
  readonly scale: number;
  readonly least: number;
  readonly most: number;
}

/** The parts that stay the same between two scrapes of one shape with the same holders. */
interface ShapePlan {
  readonly texts: readonly { readonly column: TextColumn; readonly keys: TextKeys }[];
  readonly hasLabels: boolean;
  readonly labels: readonly (readonly (readonly [string, string])[])[];
  readonly repeatsGpu: readonly boolean[];
  readonly repeatsDevice: readonly boolean[];
  readonly holders: readonly number[];
  readonly metrics: readonly MetricPlan[];
  readonly others: readonly { readonly name: string; readonly index: number }[];
  readonly activity: readonly number[];
  readonly processActivity: number;
}

/** Rows of `gpu_samples` in the Native format. */
export interface SampleBlock {
  /** The columns for which any row has a value. Other columns get the defaults of the table. */
  readonly columns: readonly string[];
  readonly bytes: Uint8Array;
}

/** A writer of samples as rows of `gpu_samples`, column by column. */
export interface SampleColumns {
  /** All columns, with the types that are sent. */
  readonly columns: readonly Pick<NativeColumn, "name" | "type">[];
  /** Appends the rows of a scrape. Returns the number of rows. */
  append(joined: JoinedScrape): number;
  /** Returns the rows appended since the last call. */
  take(): SampleBlock;
}

const FIRST_ROOM = 1024;

/** The columns of a block. */
type BlockColumns = ReturnType<typeof createColumns>;

function createColumns() {
  const texts = Object.entries(SAMPLE_TEXTS).map(([name, textOf]) => ({ column: textColumn(name), textOf }));
  const metrics = METRICS.map(({ name, unit }) => {
    const [type, bytes, scale] = UNIT_TYPES[unit];
    const column = numberColumn(name, `Nullable(${type})`, bytes);
    const least = unit === "celsius" ? -(2 ** 31) : 0;
    return { column, scale, least, most: bytes === 4 ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER };
  });
  const labels = mapColumn<string>("labels", "String", (out, label) => out.string(label));
  const repeatsGpu = numberColumn("repeats_gpu", OTHER_SAMPLE_TYPES.repeats_gpu, 1);
  const repeatsDevice = numberColumn("repeats_device", OTHER_SAMPLE_TYPES.repeats_device, 1);
  const holderCounts = numberColumn("holders", OTHER_SAMPLE_TYPES.holders, 2);
  const scrapedAt = numberColumn("scraped_at", OTHER_SAMPLE_TYPES.scraped_at, 8);
  const interval = numberColumn("interval_ms", OTHER_SAMPLE_TYPES.interval_ms, 4);
  const activity = numberColumn("activity_ppm", OTHER_SAMPLE_TYPES.activity_ppm, 4);
  const processActivity = numberColumn("process_activity_ppm", OTHER_SAMPLE_TYPES.process_activity_ppm, 4);
  const other = mapColumn<number>("other", "Float64", (out, value) => out.float64(value));
  const all = [
    ...texts.map(({ column }) => column),
    labels,
    repeatsGpu,
    repeatsDevice,
    holderCounts,
    scrapedAt,
    interval,
    activity,
    processActivity,
    ...metrics.map(({ column }) => column),
    other,
  ];
  return {
    texts,
    metrics,
    labels,
    repeatsGpu,
    repeatsDevice,
    holderCounts,
    scrapedAt,
    interval,
    activity,
    processActivity,
    other,
    all,
  };
}

/**
 * Creates empty columns. The parts that stay the same between scrapes are computed once and cached for the lifetime of the holders array.
 */
export function createSampleColumns(): SampleColumns {
  const columns = createColumns();
  const out = createByteWriter();
  const plans = new WeakMap<readonly Holder[], ShapePlan>();
  let room = 0;
  let rows = 0;

  function makeRoom(needed: number): void {
    if (needed <= room) return;
    room = Math.max(FIRST_ROOM, 2 * room, needed);
    for (const column of columns.all) column.grow(room);
  }

  return {
    columns: columns.all,
    append({ scrape, holders }) {
      let planned = plans.get(holders);
      if (planned === undefined) plans.set(holders, (planned = planOf(columns, scrape, holders)));
      const count = holders.length;
      makeRoom(rows + count);
      setIdentities(columns, rows, planned, scrape);
      setValues(columns, rows, planned, scrape);
      rows += count;
      return count;
    },
    take() {
      const written = columns.all.filter(({ isWritten }) => isWritten);
      const block = { columns: written.map(({ name }) => name), bytes: takeBlock(out, written, rows) };
      rows = 0;
      return block;
    },
  };
}

function planOf({ texts, metrics }: BlockColumns, scrape: Scrape, holders: readonly Holder[]): ShapePlan {
  const { devices, columns: names } = scrape.shape;
  const indexOfColumn = (name: string): number => names.indexOf(name);
  return {
    texts: texts.flatMap(({ column, textOf }) => {
      const keys = textKeys(devices.map((device, row) => textOf(device, holders[row]!, scrape) ?? ""));
      return keys === undefined ? [] : [{ column, keys }];
    }),
    hasLabels: devices.some((device) => device.labels !== undefined),
    labels: devices.map((device) => Object.entries(device.labels ?? {})),
    repeatsGpu: devices.map((device) => device.repeatsGpu === true),
    repeatsDevice: devices.map((device) => device.repeatsDevice === true),
    holders: holders.map((holder) => Math.min(holder.holders, 2 ** 16 - 1)),
    metrics: metrics.flatMap((metric, index) => {
      const found = indexOfColumn(METRICS[index]!.name);
      return found < 0 ? [] : [{ ...metric, index: found }];
    }),
    others: othersOf(scrape.shape),
    activity: ["gr_engine_active_ratio", "gpu_utilization_ratio", "sm_active_ratio"].map(indexOfColumn),
    processActivity: indexOfColumn("process_utilization_ratio"),
  };
}

/** Writes the unchanged parts, for rows from `from` on. */
function setIdentities(
  columns: BlockColumns,
  from: number,
  planned: ShapePlan,
  { scrapedAtMillis, intervalMillis }: Scrape,
): void {
  const { scrapedAt, interval, holderCounts, repeatsGpu, repeatsDevice, labels } = columns;
  for (const { column, keys } of planned.texts) column.putKeys(from, keys);
  const rows = planned.holders.length;
  scrapedAt.fill(from, rows, scrapedAtMillis);
  interval.fill(from, rows, intervalMillis);
  for (let index = 0; index < rows; index++) {
    holderCounts.put(from + index, planned.holders[index]!);
    if (planned.repeatsGpu[index] === true) repeatsGpu.put(from + index, 1);
    if (planned.repeatsDevice[index] === true) repeatsDevice.put(from + index, 1);
    if (planned.hasLabels) labels.put(from + index, planned.labels[index]!);
  }
}

function setValues(
  { activity, processActivity, other }: BlockColumns,
  from: number,
  planned: ShapePlan,
  { values, shape }: Scrape,
): void {
  const step = shape.columns.length;
  const rows = planned.holders.length;
  // The collector keeps values within these bounds. Any other value on the bus must not fail the batch.
  for (const { column, index: first, scale, least, most } of planned.metrics)
    column.setScaled(from, { values, first, step, rows, scale, least, most });
  const [graphics, utilization, sm] = planned.activity;
  for (let index = 0; index < rows; index++) {
    const at = (column: number): number => (column < 0 ? Number.NaN : values[index * step + column]!);
    setPpm(activity, from + index, activityPpm(at(graphics!), at(utilization!), at(sm!)));
    setPpm(processActivity, from + index, activityPpm(at(planned.processActivity)));
    if (planned.others.length > 0) {
      const others = planned.others.filter(({ index }) => !Number.isNaN(at(index)));
      other.put(
        from + index,
        others.map(({ name, index }) => [name, at(index)]),
      );
    }
  }
}

function othersOf({ columns }: ScrapeShape): ShapePlan["others"] {
  return columns.map((name, index) => ({ name, index })).filter(({ name }) => !METRIC_BY_NAME.has(name));
}

function setPpm(column: NumberColumn, row: number, ppm: number | undefined): void {
  if (ppm !== undefined) column.put(row, ppm);
}
