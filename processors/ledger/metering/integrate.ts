import { randomUUID } from "node:crypto";
import { PLAN_COLUMNS, type PlanRow } from "../../../runtime/store/schema/meter.ts";
import { createBlocks, namesOf } from "../../../runtime/store/schema/table.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { AROUND_SPANS, IN_SPANS, spanParameters } from "../runs/spans-sql.ts";
import { REACH_SQL } from "../runs/window.ts";
import { ENERGY_PIECES, ENERGY_SUMS, PACKED_TIME, unpackedTime, WINDOW_START } from "./energy-sql.ts";
import { NO_SUMS, type Measurement, type Sums } from "../plan/measurement.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** Samples of the window and around it. Counters of samples after the window show the energy that was used at its end. */
const AROUND = `
${IN_SPANS}
WHERE cluster = {cluster:String} AND node IN {nodes:Array(String)} AND ${AROUND_SPANS}`;

/**
 * The samples of each device in order, packed for fast sorting: the time, the time that it covers, the memory used, and the activity plus
 * one (0 if not measured). Of several rows at one moment, only the last covers time.
 */
const PACKED = (key: string): string => `
SELECT ${WINDOW_START} AS start, ${key},
  arraySort(groupArray(
    bitOr(bitShiftLeft(toUInt128(${PACKED_TIME}), 96),
    bitOr(bitShiftLeft(toUInt128(ifNull(activity_ppm + 1, 0)), 64),
    bitOr(bitShiftLeft(toUInt128(${REACH_SQL}), 32),
      toUInt128(ifNull(intDiv(fb_used_bytes, 1048576), 0)))))
  )) AS packed,
  arrayMap(p -> ${unpackedTime("bitShiftRight(p, 96)")}, packed) AS times,
  arrayMap(p -> toInt64(bitAnd(bitShiftRight(p, 64), 4294967295)), packed) AS values,
  arrayMap(p -> toInt64(bitAnd(bitShiftRight(p, 32), 4294967295)), packed) AS reaches,
  arrayMap(p -> toUInt32(bitAnd(p, 4294967295)), packed) AS memories,
  arrayMap((t, next, reach) -> if(next = 0, t + reach, least(next, t + reach)), times, arrayShiftLeft(times, 1, 0), reaches) AS ends,
  ${ENERGY_PIECES}
FROM gpu_samples
${AROUND}
GROUP BY start, ${key}`;

const PLAN = (key: string): string => `
SELECT intDiv(from_ms, ${HOUR_MILLIS}) * ${HOUR_MILLIS} AS start, ${key}, groupArray((ordinal, from_ms, until_ms, since_ms, claim_ppm, claims_ppm, occupant_ppm, pod)) AS rows
FROM meter_plan WHERE run = {run:String} AND series = {series:String} AND node IN {nodes:Array(String)}
GROUP BY start, ${key}`;

/** The time that each sample covers within a row of the plan. */
const COVERED = `arrayMap((t, u, v) -> if(t >= row.4 AND v > 0, greatest(0, least(u, row.3) - greatest(t, row.2)), 0), times, ends, values)`;

const SUMS = `
  row.1 AS ordinal,
  toUInt32(arrayCount(s -> s > 0, covered)) AS samples,
  toFloat64(times[arrayFirstIndex(s -> s > 0, covered)]) AS firstAt,
  toFloat64(times[arrayLastIndex(s -> s > 0, covered)]) AS lastAt,
  toUInt32(arraySum(covered)) AS coveredMillis`;

const DEVICE = (key: string): string => `
SELECT ${SUMS},
  toUInt32(arraySum((v, s) -> if(v > 1, s, 0), values, covered)) AS busyMillis,
  toString(arraySum((v, s) -> (v - 1) * s, values, covered)) AS activityPpmMillis,
  toString(arraySum((v, s) -> least(v - 1, row.6) * s, values, covered)) AS atClaimsPpmMillis,
  ${ENERGY_SUMS},
  toUInt32(greatest(0, arrayMax((v, s) -> if(s > 0, v - 1, 0), values, covered))) AS maxPpm,
  arrayMax((m, s) -> if(s > 0, m, 0), memories, covered) AS memoryMaxMiB,
  '0' AS atClaimPpmMillis, '0' AS atOccupantPpmMillis
FROM (
  SELECT rows, times, ends, values, memories, pieces, row, ${COVERED} AS covered
  FROM (${PACKED(key)}) AS device
  INNER JOIN (${PLAN(key)}) AS plan USING (start, ${key})
  ARRAY JOIN rows AS row
)
WHERE coveredMillis > 0 OR energyCoveredMillis > 0
SETTINGS optimize_aggregation_in_order = 1`;

/**
 * The process activities of each pod at each moment of a device. A pod without a row is inactive. A moment at which no row names a pod has
 * no process data, because the page of their exporter is missing.
 */
const PROCESS = `
SELECT ${SUMS},
  toUInt32(0) AS busyMillis, '0' AS atClaimsPpmMillis, toUInt32(0) AS maxPpm, toUInt32(0) AS memoryMaxMiB,
  '0' AS energyMillijoules, toUInt32(0) AS energyCoveredMillis,
  toString(arraySum((p, s) -> toInt64(p[row.8]) * s, processes, covered)) AS activityPpmMillis,
  toString(arraySum((p, s) -> least(toInt64(p[row.8]), row.5) * s, processes, covered)) AS atClaimPpmMillis,
  toString(arraySum((p, s) -> least(toInt64(p[row.8]), row.7) * s, processes, covered)) AS atOccupantPpmMillis
FROM (
  SELECT times, ends, processes, row, arrayMap(t -> 1, times) AS values, ${COVERED} AS covered
  FROM (
    SELECT start, node, gpu_key, instance, arraySort(e -> e.1, groupArray((t, reach, activities))) AS moments,
      arrayMap(e -> e.1, moments) AS times,
      arrayMap(e -> e.3, moments) AS processes,
      arrayMap((t, next, e) -> if(next = 0, t + e.2, least(next, t + e.2)), times, arrayShiftLeft(times, 1, 0), moments) AS ends
    FROM (
      SELECT ${WINDOW_START} AS start, node, gpu_key, instance, toUnixTimestamp64Milli(scraped_at) AS t, max(${REACH_SQL}) AS reach,
        sumMap(map(concat(namespace, '/', pod), toUInt64(ifNull(process_activity_ppm, 0)))) AS activities
      FROM gpu_samples FINAL
      ${AROUND}
      GROUP BY start, node, gpu_key, instance, t
      HAVING max(pod != '')
    )
    GROUP BY start, node, gpu_key, instance
  ) AS device
  INNER JOIN (${PLAN("node, gpu_key, instance")}) AS plan USING (start, node, gpu_key, instance)
  ARRAY JOIN rows AS row
)
WHERE coveredMillis > 0`;

const STATEMENTS: Readonly<Record<Measurement["series"], string>> = {
  device: DEVICE("node, gpu_key, instance"),
  gpu: DEVICE("node, gpu_key"),
  process: PROCESS,
};
interface SumsRow extends Omit<Sums, `${string}PpmMillis` | "energyMillijoules"> {
  readonly ordinal: number;
  readonly activityPpmMillis: string;
  readonly atClaimsPpmMillis: string;
  readonly atClaimPpmMillis: string;
  readonly atOccupantPpmMillis: string;
  readonly energyMillijoules: string;
}

/** The measurements of some nodes in one window. */
export interface WindowMeasurements {
  readonly cluster: string;
  readonly start: number;
  /** The longest time that samples before the window cover. */
  readonly reachMillis: number;
  readonly measurements: readonly Measurement[];
}

/**
 * Returns the sums of samples over each of the measurements, which lie within one window, in order. The plan is inserted into the store,
 * and the store returns the sums. A sample covers the time until the next one of its device, at most 2.5 of its intervals; the same applies
 * to the GPU's energy. Measurements with the same sums are summed once: most pods that hold parts of one GPU. Fails with a `StoreError`.
 */
export async function integrate(store: StoreClient, window: WindowMeasurements): Promise<readonly Sums[]> {
  return window.measurements.length === 0 ? [] : together(store, integrateAll, window);
}

async function integrateAll(
  store: StoreClient,
  windows: readonly WindowMeasurements[],
): Promise<readonly (readonly Sums[])[]> {
  const planned = windows.map(({ measurements, reachMillis }) => withoutRepeats(measurements, reachMillis));
  const all = planned.flatMap(({ distinct }) => distinct);
  const sums = all.map(() => NO_SUMS);
  const run = randomUUID();
  await store.insertRows("meter_plan", namesOf(PLAN_COLUMNS), planRows(run, all));
  try {
    const starts = windows.map(({ start }) => start);
    const around = windows.map(({ start, reachMillis }) => ({
      from: start - reachMillis,
      until: start + HOUR_MILLIS + reachMillis,
    }));
    const parameters = { cluster: windows[0]!.cluster, run, starts, ...spanParameters(around) };
    for (const [series, sql] of Object.entries(STATEMENTS)) {
      const nodes = new Set(all.flatMap((one) => (one.series === series ? [one.node] : [])));
      if (nodes.size === 0) continue;
      const rows = await store.query<SumsRow>(sql, { ...parameters, series, nodes: [...nodes] });
      for (const { ordinal, ...row } of rows) sums[ordinal] = sumsOf(row);
    }
  } finally {
    await store.command(`ALTER TABLE meter_plan DROP PARTITION {run:String}`, { run });
  }
  let before = 0;
  return planned.map(({ distinct, indexes }) => {
    const first = before;
    before += distinct.length;
    return indexes.map((index) => sums[first + index]!);
  });
}

/** Returns the distinct measurements, and the index of each requested measurement among them. */
function withoutRepeats(
  measurements: readonly Measurement[],
  reachMillis: number,
): { readonly distinct: readonly Measurement[]; readonly indexes: readonly number[] } {
  const distinct: Measurement[] = [];
  const known = new Map<string, number>();
  const indexes = measurements.map((one) => {
    // Samples from before this moment do not reach into the measured time, so they need no limit.
    const since = one.since <= one.from - reachMillis ? 0 : one.since;
    const { series, node, gpuKey, part, from, until } = one;
    const caps = series === "process" ? [one.pod, one.claimPpm, one.occupantPpm] : [one.claimsPpm];
    const key = JSON.stringify([series, node, gpuKey, part, from, until, since, ...caps]);
    const index = known.get(key) ?? distinct.push({ ...one, since }) - 1;
    known.set(key, index);
    return index;
  });
  return { distinct, indexes };
}

function sumsOf(row: Omit<SumsRow, "ordinal">): Sums {
  return {
    ...row,
    activityPpmMillis: BigInt(row.activityPpmMillis),
    atClaimsPpmMillis: BigInt(row.atClaimsPpmMillis),
    atClaimPpmMillis: BigInt(row.atClaimPpmMillis),
    atOccupantPpmMillis: BigInt(row.atOccupantPpmMillis),
    energyMillijoules: BigInt(row.energyMillijoules),
  };
}

function planRows(run: string, measurements: readonly Measurement[]): readonly Uint8Array[] {
  const rows = createBlocks<PlanRow>(PLAN_COLUMNS, { run });
  measurements.forEach((one, ordinal) =>
    rows.write({
      run,
      series: one.series,
      ordinal,
      node: one.node,
      gpu_key: one.gpuKey,
      instance: one.part,
      pod: one.pod,
      from_ms: one.from,
      until_ms: one.until,
      since_ms: one.since,
      claim_ppm: one.claimPpm,
      claims_ppm: one.claimsPpm,
      occupant_ppm: one.occupantPpm,
    }),
  );
  return rows.take();
}
