import { HOUR_MILLIS, MINUTE_MILLIS, hourOf } from "../../domain/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";
import { MEMORY_TOTAL } from "./live-gpus.ts";
import type { SampleScope } from "./sample-scope.ts";

/** A measurement over a step of time: of one GPU, or of several GPUs together. Null without a sample. */
export interface Range {
  readonly mean: number | null;
  readonly least: number | null;
  readonly most: number | null;
}

/** The names of the measurements. Ratios are 0..1, temperatures in °C, power in watts of a GPU. */
export const MEASURES = ["activity", "memory", "temperature", "power"] as const;

/** See {@link MEASURES}. */
export type Measure = (typeof MEASURES)[number];

/** The measurements of some GPUs over a step of time, and their holders in it. */
export interface MeasuredStep extends Readonly<Record<Measure, Range>> {
  /** The start of the step, milliseconds since the epoch. */
  readonly at: number;
  /** The number of GPUs with samples. */
  readonly gpus: number;
  /** DCGM's reasons for reduced clocks, of all GPUs together. */
  readonly clockReasons: number;
  /** The holders in the form `namespace/pod`, sorted. */
  readonly holders: readonly string[];
}

/** The time of measurements and the length of a step, milliseconds. */
export interface MeasuredTime {
  readonly from: number;
  readonly until: number;
  readonly stepMillis: number;
}

/** The rollups of the last hours are not published yet. From this age on, their samples are read. */
const ROLLED_UP_MILLIS = 2 * HOUR_MILLIS;
/** The longest step that samples are read for. Longer steps are made from rollups, which are kept longer. */
const LONGEST_OF_SAMPLES = 30 * MINUTE_MILLIS;

/** Reads the measurements of a part of the fleet, step by step, oldest first. Steps without samples are left out. Fails with a `StoreError`. */
export async function readMeasurements(
  store: Pick<StoreClient, "query">,
  scope: SampleScope,
  { from, until, stepMillis }: MeasuredTime,
): Promise<readonly MeasuredStep[]> {
  const isLong = stepMillis > LONGEST_OF_SAMPLES;
  const rolledUp = Math.max(from, hourOf(until - ROLLED_UP_MILLIS));
  const parameters = { ...scope.parameters, until, step: stepMillis };
  const [old, recent] = await Promise.all([
    isLong && rolledUp > from ? store.query<StepRow>(rollupsSql(scope), { ...parameters, from, until: rolledUp }) : [],
    store.query<StepRow>(samplesSql(scope), { ...parameters, from: isLong ? rolledUp : from }),
  ]);
  return [...old, ...recent].map(({ at, gpus, clockReasons, heldBy, ...row }) => ({
    at,
    gpus,
    clockReasons,
    holders: heldBy,
    activity: rangeOf(row.activity),
    memory: rangeOf(row.memory),
    temperature: rangeOf(row.temperature),
    power: rangeOf(row.power),
  }));
}

type StepRow = Pick<MeasuredStep, "at" | "gpus" | "clockReasons"> & { readonly heldBy: readonly string[] } & Readonly<
    Record<Measure, readonly [mean: number | null, least: number | null, most: number | null]>
  >;

function rangeOf([mean, least, most]: StepRow[Measure]): Range {
  return { mean, least, most };
}

/** SQL for the range of an expression in each step. */
const range = (expression: string): string => `(avg(${expression}), min(${expression}), max(${expression}))`;

const HOLDERS = `arraySort(groupUniqArrayIf(1000)(concat(holder_namespace, '/', holder_pod), holder_pod != '')) AS heldBy`;

const samplesSql = ({ samples, isOfPods }: SampleScope): string => `
SELECT toFloat64(intDiv(toUnixTimestamp64Milli(scraped_at), {step:Int64}) * {step:Int64}) AS at,
  toUInt32(uniqExact(cluster, node, gpu_key)) AS gpus, toUInt32(groupBitOr(ifNull(clocks_event_reasons, 0)) % 65536) AS clockReasons,
  ${range(`toFloat64(${isOfPods ? "coalesce(process_activity_ppm, activity_ppm)" : "activity_ppm"}) / 1e6`)} AS activity,
  ${range(`toFloat64(${isOfPods ? "coalesce(process_fb_used_bytes, fb_used_bytes)" : "fb_used_bytes"}) / toFloat64(nullIf(${MEMORY_TOTAL}, 0))`)} AS memory,
  ${range("toFloat64(gpu_temperature_celsius)")} AS temperature,
  ${range("toFloat64(power_watts)")} AS power,
  ${HOLDERS}
FROM gpu_samples
WHERE ${samples} AND scraped_at >= ${momentSql("from")} AND scraped_at < ${momentSql("until")} ${isOfPods ? "" : "AND NOT repeats_device"}
GROUP BY at ORDER BY at`;

const rollupsSql = ({ rollups, isOfPods }: SampleScope): string => `
SELECT toFloat64(intDiv(toUnixTimestamp(bucket) * 1000, {step:Int64}) * {step:Int64}) AS at,
  toUInt32(uniqExact(cluster, node, gpu_key)) AS gpus, toUInt32(groupBitOr(clocks_event_reasons) % 65536) AS clockReasons,
  ${range(isOfPods ? meanSql("process_activity", meanSql("activity", "NULL")) : meanSql("activity", "NULL"))} AS activity,
  ${range("toFloat64(fb_used_max_bytes) / toFloat64(nullIf(fb_total_max_bytes, 0))")} AS memory,
  ${range("toFloat64(temperature_max_celsius)")} AS temperature,
  ${range("power_mw_ms / nullIf(power_ms, 0) / 1000")} AS power,
  ${HOLDERS}
FROM gpu_5m_published
WHERE ${rollups} AND bucket >= ${momentSql("from")} AND bucket < ${momentSql("until")} ${isOfPods ? "" : "AND scope = 'device'"}
GROUP BY at ORDER BY at`;

/** SQL for a ratio's mean over time in a rollup's row; `otherwise` if it was not measured. */
function meanSql(measure: string, otherwise: string): string {
  return `if(${measure}_ms > 0, ${measure}_ppm_ms / ${measure}_ms / 1e6, ${otherwise})`;
}
