import type { SampleDrop, Batch } from "./model.ts";
import type { FamilyMeta } from "../../exporters/exposition/parse.ts";
import { RefusedWrite } from "./refused-write.ts";

const FIRST_ROOM = 4096;

/** Creates an empty batch. */
export function createBatch(): Batch {
  return {
    series: 0,
    size: 0,
    samples: 0,
    places: [],
    times: new Float64Array(FIRST_ROOM),
    values: new Float64Array(FIRST_ROOM),
    families: [],
    dropped: {},
  };
}

/** Removes all samples. */
export function clearBatch(batch: Batch): void {
  batch.series = 0;
  batch.size = 0;
  batch.samples = 0;
  batch.families = [];
  batch.dropped = {};
}

/** The most series of a request. Senders put at most some 10,000 samples into a request by default. */
const MOST_SERIES = 50_000;

/** Counts a series of the request. Throws a {@link RefusedWrite} 413 if there are too many, because new series take time that others wait. */
export function countSeries(batch: Batch): void {
  batch.series += 1;
  if (batch.series > MOST_SERIES) throw new RefusedWrite(413, `the body has more than ${MOST_SERIES} series`);
}

/** Makes room for one more sample. */
export function growBatch(batch: Batch): void {
  if (batch.size < batch.times.length) return;
  const [times, values] = [new Float64Array(batch.size * 2), new Float64Array(batch.size * 2)];
  times.set(batch.times);
  values.set(batch.values);
  batch.times = times;
  batch.values = values;
}

/** Counts samples that are not kept. */
export function dropFrom(batch: Batch, reason: SampleDrop, count: number): void {
  batch.dropped[reason] = (batch.dropped[reason] ?? 0) + count;
  batch.samples += count;
}

/** The most metadata of one request. */
const MOST_FAMILIES = 100_000;

/** Adds the metadata of a family. */
export function addFamilyTo({ families }: Batch, name: string, meta: FamilyMeta): void {
  if (families.length < MOST_FAMILIES) families.push([name, meta]);
}
