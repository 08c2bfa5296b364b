import { REACH_SQL } from "../runs/window.ts";

/**
 * An offset in milliseconds that is larger than the distance of any sample from the start of its window, so that times counted from there
 * are positive.
 */
const BEFORE = 36_000_000;

/** The start of the window that a sample is read for, as SQL. */
export const WINDOW_START = "{starts:Array(Int64)}[span]";

/** The time of a sample in 26 bits, counted from before its window, as SQL. */
export const PACKED_TIME = `toUnixTimestamp64Milli(scraped_at) - ${WINDOW_START} + ${BEFORE}`;

/** Returns SQL for the milliseconds since the epoch of a {@link PACKED_TIME}. */
export function unpackedTime(packed: string): string {
  return `toInt64(${packed}) - ${BEFORE} + start`;
}

/** More than any GPU draws. Higher readings, and counter increases beyond it, are ignored: one wrong value must not become a bill. */
const MOST_WATTS = 10_000;
const MOST_MILLIWATTS = MOST_WATTS * 1000;
/** The energy that a GPU with {@link MOST_WATTS} uses in fourteen years. */
const MOST_MILLIJOULES = 2 ** 52 - 2;

/** Returns SQL for a value plus one in the bits reserved for it; 0 if it is absent or ignored. */
const plusOne = (column: string, most: number): string =>
  `toUInt128(if(${column} BETWEEN 0 AND ${most}, assumeNotNull(${column}) + 1, 0))`;

/**
 * The readings of a GPU in order, packed for fast sorting: the time, its counter, its power, and the time that it covers. Instances and
 * sharing pods repeat the values of their GPU, a little earlier or later. Of several rows at one moment, the highest counter counts: all of
 * them are from after the previous moment, so none is below its counter.
 */
const READINGS = `arraySort(groupArray(
  bitOr(bitShiftLeft(toUInt128(${PACKED_TIME}), 100),
  bitOr(bitShiftLeft(${plusOne("reinterpretAsInt64(energy_joules)", MOST_MILLIJOULES)}, 48),
  bitOr(bitShiftLeft(${plusOne("reinterpretAsInt32(power_watts)", MOST_MILLIWATTS)}, 24),
    toUInt128(${REACH_SQL}))))))`;
const MOMENTS = `arrayMap(
  r -> (${unpackedTime("bitShiftRight(r, 100)")}, toInt64(bitAnd(bitShiftRight(r, 48), ${2 ** 52 - 1})),
    toInt64(bitAnd(bitShiftRight(r, 24), ${2 ** 24 - 1})), toInt64(bitAnd(r, ${2 ** 24 - 1}))),
  arrayFilter((r, next) -> bitShiftRight(r, 100) != bitShiftRight(next, 100), readings, arrayShiftLeft(readings, 1)))`;

/**
 * The increase of a counter from one reading to the next, in millijoules. After a fall, which is a reset, it is the new counter value. -1
 * if either is absent, if the first reading does not cover the time between, or if the increase is impossible.
 */
const RISE = `if(r.2 > 0 AND next.2 > 0 AND next.1 <= r.1 + r.4, if(next.2 >= r.2, next.2 - r.2, next.2 - 1), -1)`;
const IS_COUNTED = `(${RISE}) BETWEEN 0 AND ${MOST_WATTS} * (next.1 - r.1)`;

/**
 * The column `pieces` of a group of samples: for each reading the start and end of the time that it covers, and its energy as millijoules
 * per milliseconds, from the counter or else from its power. Readings without either are left out.
 */
export const ENERGY_PIECES = `${READINGS} AS readings, ${MOMENTS} AS moments,
  arrayFilter(piece -> piece.3 >= 0, arrayMap(
    (r, next) -> if(${IS_COUNTED},
      (r.1, next.1, ${RISE}, next.1 - r.1),
      (r.1, if(next.1 = 0, r.1 + r.4, least(next.1, r.1 + r.4)), r.3 - 1, toInt64(1000))),
    moments, arrayShiftLeft(moments, 1))) AS pieces`;

/** Returns SQL for the part of a piece's energy up to a moment, rounded down, so that the parts of adjacent segments sum to the whole. */
const usedUpTo = (moment: string): string => `intDiv(piece.3 * (${moment} - piece.1), piece.4)`;
const BEGIN = "least(greatest(piece.1, row.2), piece.2)";
const END = "greatest(least(piece.2, row.3), piece.1)";

/** The energy of a row of the plan from {@link ENERGY_PIECES}, and the part of its time for which energy is known. */
export const ENERGY_SUMS = `
  toString(arraySum(piece -> ${usedUpTo(END)} - ${usedUpTo(BEGIN)}, pieces)) AS energyMillijoules,
  toUInt32(arraySum(piece -> ${END} - ${BEGIN}, pieces)) AS energyCoveredMillis`;
