import type { FamilyMeta } from "../../exporters/exposition/parse.ts";
import type { SeriesPlace } from "./series-place.ts";

/** The reason why samples were not used. */
export type SampleDrop =
  | "other-series"
  | "series-limit"
  | "labels"
  | "time"
  | "replica"
  | "too-late"
  | "not-a-gpu-target";

/** The samples of one request that are kept, and counts of the others. It is reused for the next request. */
export interface Batch {
  readonly size: number;
  readonly places: readonly SeriesPlace[];
  readonly times: Float64Array;
  /** NaN if the sample ends its series. */
  readonly values: Float64Array;
  readonly families: readonly (readonly [name: string, meta: FamilyMeta])[];
  readonly samples: number;
  readonly dropped: Partial<Record<SampleDrop, number>>;
}

/** A batch that a decoder fills. */
export interface OpenBatch extends Batch {
  clear(): void;
  add(place: SeriesPlace, time: number, value: number): void;
  drop(reason: SampleDrop, count: number): void;
  addFamily(name: string, meta: FamilyMeta): void;
}

/** The most metadata of one request. */
const MOST_FAMILIES = 100_000;

/** Creates an empty batch. */
export function createBatch(): OpenBatch {
  const places: SeriesPlace[] = [];
  let [size, samples] = [0, 0];
  let times = new Float64Array(4096);
  let values = new Float64Array(4096);
  let families: (readonly [string, FamilyMeta])[] = [];
  let dropped: Partial<Record<SampleDrop, number>> = {};
  return {
    places,
    get size() {
      return size;
    },
    get times() {
      return times;
    },
    get values() {
      return values;
    },
    get families() {
      return families;
    },
    get samples() {
      return samples;
    },
    get dropped() {
      return dropped;
    },
    clear() {
      [size, samples, families, dropped] = [0, 0, [], {}];
    },
    add(place, time, value) {
      if (size === times.length) {
        const [moreTimes, moreValues] = [new Float64Array(size * 2), new Float64Array(size * 2)];
        moreTimes.set(times);
        moreValues.set(values);
        [times, values] = [moreTimes, moreValues];
      }
      places[size] = place;
      times[size] = time;
      values[size] = value;
      size += 1;
      samples += 1;
    },
    drop(reason, count) {
      dropped[reason] = (dropped[reason] ?? 0) + count;
      samples += count;
    },
    addFamily(name, meta) {
      if (families.length < MOST_FAMILIES) families.push([name, meta]);
    },
  };
}
