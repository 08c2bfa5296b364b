import type { StoreClient } from "../../../runtime/store/client.ts";
import {
  DESCRIPTIONS,
  INCREASE_MEASURES,
  MAX_MEASURES,
  MEAN_MEASURES,
  ROLLUP_COLUMNS,
  ROW_KEY,
} from "../../../runtime/store/schema/rollups.ts";
import { AROUND_SPANS, IN_SPANS, spanParameters } from "../runs/spans-sql.ts";
import { FIVE_MINUTES_MILLIS, REACH_SQL } from "../runs/window.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

const INCREASES = Object.entries(INCREASE_MEASURES);
/** A condition: the holder shares the device. It stands for several pods, or it is known by its node alone. */
const IS_COMMON = "(holders > 1 OR evidence = 'node')";
const ppm = (column: string): string => `reinterpretAsInt32(${column})`;

/** The pod of a row is its holder. In rows from before holders had a UID, the row's own label has the UID if it names the holder. */
const DESCRIBED: Readonly<Record<string, string>> = {
  pod_uid: `multiIf(${IS_COMMON}, '', holder_uid = '' AND holder_pod = pod, pod_uid, holder_uid)`,
};

/** The stored fields of a sample: first the sort keys of a device's samples, then the measured values as exact integers. */
const ENTRY: readonly (readonly [name: string, type: string, expression: string])[] = [
  ["t", "Int64", "toUnixTimestamp64Milli(scraped_at)"],
  ["repeats_device", "UInt8", "repeats_device"],
  ["holder", "Tuple(namespace String, pod String)", `if(${IS_COMMON}, ('', ''), (holder_namespace, holder_pod))`],
  ["is_common", "UInt8", IS_COMMON],
  ["sharing", "String", "sharing"],
  ["repeats_gpu", "UInt8", "repeats_gpu"],
  ["reach", "Int64", REACH_SQL],
  ...DESCRIPTIONS.map((name) => [name, "LowCardinality(String)", DESCRIBED[name] ?? name] as const),
  ["activity", "Nullable(UInt32)", "activity_ppm"],
  ["process_activity", "Nullable(UInt32)", "process_activity_ppm"],
  ["gr_engine", "Nullable(UInt32)", ppm("gr_engine_active_ratio")],
  ["sm", "Nullable(UInt32)", ppm("sm_active_ratio")],
  ["tensor", "Nullable(UInt32)", ppm("tensor_active_ratio")],
  ["dram", "Nullable(UInt32)", ppm("dram_active_ratio")],
  ["fb_used_max_bytes", "Nullable(UInt64)", "fb_used_bytes"],
  [
    "fb_total_max_bytes",
    "Nullable(UInt64)",
    "coalesce(fb_total_bytes, fb_used_bytes + fb_free_bytes + ifNull(fb_reserved_bytes, 0))",
  ],
  ["process_fb_used_max_bytes", "Nullable(UInt64)", "process_fb_used_bytes"],
  ["power_max_mw", "Nullable(UInt64)", "reinterpretAsInt32(power_watts)"],
  ["temperature_max_celsius", "Nullable(Decimal(9, 3))", "gpu_temperature_celsius"],
  ["memory_temperature_max_celsius", "Nullable(Decimal(9, 3))", "memory_temperature_celsius"],
  ["clocks_event_reasons", "Nullable(UInt64)", "clocks_event_reasons"],
  ["xid_code", "Nullable(UInt64)", "xid_code"],
];

/** The counters of a sample with its time, which the previous sample needs. */
const READING: readonly (readonly [name: string, type: string, expression: string])[] = [
  ["t", "Int64", "toUnixTimestamp64Milli(scraped_at)"],
  ["energy", "Nullable(UInt64)", "reinterpretAsInt64(energy_joules)"],
  ...INCREASES.map(([name, column]) => [name, "Nullable(UInt64)", column] as const),
];

const tupleOf = (fields: typeof ENTRY): string =>
  `CAST(tuple(${fields.map(([, , expression]) => expression).join(", ")}),
        'Tuple(${fields.map(([name, type]) => `${name} ${type}`).join(", ")})')`;

/**
 * The samples of each device, in order, with the needed fields of their neighbors. `rank` counts the rows of one device at one moment: if
 * pods share it there are several, and the first is the row of the device. `next` is the first reading of the next moment; its time is 0 if
 * there is none.
 */
const NEIGHBORS = `
  SELECT span, node, gpu_key, instance, both.1 AS entries, both.2 AS readings,
    arrayEnumerateUniq(tupleElement(entries, 't')) AS ranks,
    arrayShiftLeft(ranks, 1, toUInt32(1)) AS following,
    arrayReverseFill((reading, rank) -> rank = 1, arrayShiftLeft(readings, 1), following) AS nexts,
    tupleElement(entries, 'holder') AS holders,
    arrayFill((holder, rank) -> rank = 1, holders, ranks) AS firsts,
    arrayShiftRight(holders, 1) AS previous
  FROM (
    SELECT span, node, gpu_key, instance,
      arraySort(
        each -> (each.1.t, each.1.repeats_device, each.1.holder, each.1.sharing),
        groupArray(tuple(${tupleOf(ENTRY)}, ${tupleOf(READING)}))
      ) AS both
    FROM gpu_samples FINAL
    ${IN_SPANS}
    WHERE cluster = {cluster:String} AND ${AROUND_SPANS}
      AND cityHash64(node) % {slices:UInt32} = {slice:UInt32}
    GROUP BY span, node, gpu_key, instance
  )`;

/**
 * One row for each sample and scope. A device is shared at a moment if it has several rows, a row with a process's values, or a holder in
 * common with others. A pod with several rows at a moment (two containers, two replicas) shares the device once.
 */
const SPEAKING = `
  SELECT span, node, gpu_key, instance, e, reading, next,
    rank > 1 OR following_rank > 1 OR e.is_common OR e.process_activity IS NOT NULL OR e.process_fb_used_max_bytes IS NOT NULL AS shared,
    arrayJoin(arrayFilter(
      scope -> if(
        scope = 'device',
        rank = 1,
        shared AND e.holder.pod != '' AND (rank = 1 OR (e.holder != first AND e.holder != before))
      ),
      ['device', 'process']
    )) AS scope,
    if(shared AND scope = 'device', ('', ''), e.holder) AS holder,
    if(next.t = 0, e.t + e.reach, least(next.t, e.t + e.reach)) AS until
  FROM (${NEIGHBORS})
  ARRAY JOIN entries AS e, ranks AS rank, following AS following_rank, readings AS reading, nexts AS next,
    firsts AS first, previous AS before`;

/**
 * Returns SQL for the increase of a counter until the next reading. After a fall, it is the new counter value. NULL if either reading is
 * NULL.
 */
const increase = (counter: string): string =>
  `toUInt64(next.${counter} - if(next.${counter} >= reading.${counter}, reading.${counter}, 0 * reading.${counter}))`;

/** The start of the window of a row. */
const START = "{starts:Array(Int64)}[span]";

/** The time from `from` to `to` that a sample covers, cut at the ends of buckets. Its values depend on its scope. */
const PIECES = `
  SELECT *, ${START} AS start,
    arrayJoin(range(
      toUInt64(intDiv(greatest(e.t, start), ${FIVE_MINUTES_MILLIS})),
      toUInt64(intDiv(least(until, start + ${HOUR_MILLIS}) - 1, ${FIVE_MINUTES_MILLIS})) + 1
    )) AS slot,
    greatest(e.t, toInt64(slot) * ${FIVE_MINUTES_MILLIS}) AS from,
    least(until, toInt64(slot + 1) * ${FIVE_MINUTES_MILLIS}) AS to,
    toUInt64(to - from) AS ms,
    scope = 'device' AS is_device,
    is_device AND e.repeats_gpu = 0 AS is_gpu,
    is_gpu AND next.t = until AS is_followed,
    next.t - e.t AS length,
    is_followed AND intDiv(next.t - 1, ${FIVE_MINUTES_MILLIS}) = slot AS ends_here,
    if(is_followed, ${increase("energy")}, NULL) AS energy
  FROM (${SPEAKING})
  WHERE until > e.t AND until > ${START} AND e.t < ${START} + ${HOUR_MILLIS}`;

/** Returns SQL for a measure, NULL in the other scope. */
const scoped = (name: string): string =>
  `if(${name.startsWith("process_") ? "NOT is_device" : "is_device"}, e.${name}, NULL)`;

/** Returns SQL for the part of the energy up to a moment, rounded down, so that the parts of adjacent pieces sum to the whole. */
const energyUpTo = (moment: string): string =>
  `toUInt64(intDiv(energy, length) * toUInt64(${moment} - e.t) + intDiv((energy % length) * toUInt64(${moment} - e.t), length))`;

const MEASURES: Readonly<Record<string, string>> = {
  samples: "toUInt32(countIf(from = e.t))",
  first_at: "fromUnixTimestamp64Milli(min(from), 'UTC')",
  last_at: "fromUnixTimestamp64Milli(max(to), 'UTC')",
  covered_ms: "sum(ms)",
  ...Object.fromEntries(DESCRIPTIONS.map((name) => [name, `argMax(e.${name}, e.t)`])),
  ...Object.fromEntries(
    MEAN_MEASURES.flatMap((name) => [
      [`${name}_ms`, `sumIf(ms, ${scoped(name)} IS NOT NULL)`],
      [`${name}_ppm_ms`, `ifNull(sum(ms * ${scoped(name)}), 0)`],
    ]),
  ),
  activity_max_ppm: `max(${scoped("activity")})`,
  process_activity_max_ppm: `max(${scoped("process_activity")})`,
  ...Object.fromEntries(Object.keys(MAX_MEASURES).map((name) => [name, `max(${scoped(name)})`])),
  power_ms: "sumIf(ms, is_gpu AND e.power_max_mw IS NOT NULL)",
  power_mw_ms: "ifNull(sumIf(ms * e.power_max_mw, is_gpu), 0)",
  energy_ms: "sumIf(ms, energy IS NOT NULL)",
  energy_mj: `ifNull(sum(${energyUpTo("to")} - ${energyUpTo("from")}), 0)`,
  clocks_event_reasons: "groupBitOr(if(is_device, ifNull(e.clocks_event_reasons, 0), 0))",
  xid_codes:
    "arraySort(groupUniqArrayIf(toUInt32(ifNull(e.xid_code, 0)), is_device AND e.xid_code BETWEEN 1 AND 4294967295))",
  ...Object.fromEntries(INCREASES.map(([name]) => [name, `ifNull(sumIf(${increase(name)}, ends_here), 0)`])),
};

const KEY: Readonly<Record<string, string>> = {
  cluster: "{cluster:String}",
  holder_namespace: "holder.1",
  holder_pod: "holder.2",
  bucket: `toDateTime(slot * ${FIVE_MINUTES_MILLIS / 1000}, 'UTC')`,
};

/** Uses one thread: merging the groups of several threads takes three times the CPU time, without a gain in wall-clock time. */
const INSERT = `
INSERT INTO gpu_5m (run_id, ${ROLLUP_COLUMNS.join(", ")})
SELECT {runs:Array(UUID)}[span], ${ROLLUP_COLUMNS.map((name) => KEY[name] ?? MEASURES[name] ?? name).join(",\n  ")}
FROM (${PIECES})
GROUP BY span, ${Object.keys(ROW_KEY)
  .filter((name) => !(name in KEY))
  .join(", ")}, holder, slot
SETTINGS do_not_merge_across_partitions_select_final = 1, max_threads = 1`;

/** The number of samples that are computed at once: about half a kilobyte each in the store's memory. */
const SAMPLES_PER_SLICE = 1_000_000;

/** A window whose rows are inserted under a run that is not visible yet. */
export interface RollupInput {
  readonly cluster: string;
  readonly windowStart: number;
  readonly runId: string;
  /** The longest time that samples around the window cover. */
  readonly reachMillis: number;
  /** The number of those samples. */
  readonly samples: number;
}

/**
 * Inserts the 5-minute rows of hours of one cluster. It also reads the samples of `reachMillis` before and after each hour: samples from
 * before cover its start, samples from after end the time that its last samples cover. The nodes are processed in slices, so memory is
 * bounded for any fleet size. Fails with a `StoreError`.
 */
export async function insertFiveMinutes(store: StoreClient, windows: readonly RollupInput[]): Promise<readonly void[]> {
  const starts = windows.map(({ windowStart }) => windowStart);
  const around = windows.map(({ windowStart, reachMillis }) => ({
    from: windowStart - reachMillis,
    until: windowStart + HOUR_MILLIS + reachMillis + 1,
  }));
  const slices = Math.max(1, Math.ceil(windows.reduce((sum, { samples }) => sum + samples, 0) / SAMPLES_PER_SLICE));
  const parameters = { cluster: windows[0]!.cluster, starts, runs: windows.map(({ runId }) => runId), slices };
  for (let slice = 0; slice < slices; slice++)
    await store.command(INSERT, { ...parameters, ...spanParameters(around), slice });
  return windows.map(() => {});
}
