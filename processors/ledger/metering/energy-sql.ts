import { REACH_SQL } from "../hours/window.ts";

/** Further than any sample of a window is from its beginning, so that times from there are positive. */
const BEFORE = 36_000_000;

/** The time of a sample, counted from before its window, in 26 bits. */
export const PACKED_TIME = `toUnixTimestamp64Milli(scraped_at) - {start:Int64} + ${BEFORE}`;

/** The milliseconds since the epoch of a {@link PACKED_TIME}. */
export function unpackedTime(packed: string): string {
  return `toInt64(${packed}) - ${BEFORE} + {start:Int64}`;
}

/**
 * More than any GPU draws. A reading of more is not believed, nor is a counter that would have risen by more: one wrong value must not
 * become a bill.
 */
const MOST_WATTS = 10_000;
const MOST_MILLIWATTS = MOST_WATTS * 1000;
/** What a GPU of so many watts uses in fourteen years. */
const MOST_MILLIJOULES = 2 ** 52 - 2;

/** A value plus one in as many bits as are kept for it; 0 where it is not given, or not believed. */
const plusOne = (column: string, most: number): string =>
  `toUInt128(if(${column} BETWEEN 0 AND ${most}, assumeNotNull(${column}) + 1, 0))`;

/**
 * The readings of a GPU in order, packed so that sorting is quick: the time, its counter, its power, and how far it speaks. Of several
 * rows at one moment (instances and sharing pods repeat the values of their GPU, a little earlier or later) the highest counter
 * counts: all of them are from after the moment before, so that none of them falls behind it.
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
 * What a counter rose by from one reading to the next, in millijoules; after a fall, which is a reset, what it has counted since. -1
 * where one of both is not there, where the first does not speak so long, and where nothing can draw so much.
 */
const RISE = `if(r.2 > 0 AND next.2 > 0 AND next.1 <= r.1 + r.4, if(next.2 >= r.2, next.2 - r.2, next.2 - 1), -1)`;
const IS_COUNTED = `(${RISE}) BETWEEN 0 AND ${MOST_WATTS} * (next.1 - r.1)`;

/**
 * The column `pieces` of a group of samples: of each reading from when until when it speaks, and its energy as so many millijoules in
 * so many milliseconds, by the counter, else by its power. Readings that tell nothing are left out.
 */
export const ENERGY_PIECES = `${READINGS} AS readings, ${MOMENTS} AS moments,
  arrayFilter(piece -> piece.3 >= 0, arrayMap(
    (r, next) -> if(${IS_COUNTED},
      (r.1, next.1, ${RISE}, next.1 - r.1),
      (r.1, if(next.1 = 0, r.1 + r.4, least(next.1, r.1 + r.4)), r.3 - 1, toInt64(1000))),
    moments, arrayShiftLeft(moments, 1))) AS pieces`;

/** The part of a piece's energy that is used up to a moment, rounded down: such parts of adjacent segments sum to the whole. */
const usedUpTo = (moment: string): string => `intDiv(piece.3 * (${moment} - piece.1), piece.4)`;
const BEGIN = "least(greatest(piece.1, row.2), piece.2)";
const END = "greatest(least(piece.2, row.3), piece.1)";

/** The energy of a row of the plan from {@link ENERGY_PIECES}, and for how much of its time it is known. */
export const ENERGY_SUMS = `
  toString(arraySum(piece -> ${usedUpTo(END)} - ${usedUpTo(BEGIN)}, pieces)) AS energyMillijoules,
  toUInt32(arraySum(piece -> ${END} - ${BEGIN}, pieces)) AS energyCoveredMillis`;
