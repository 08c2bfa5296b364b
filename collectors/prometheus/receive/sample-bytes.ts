import type protobuf from "protobufjs/minimal.js";
import { dropFrom, growBatch } from "./batch.ts";
import type { Batch } from "./model.ts";
import type { SeriesPlace } from "./model.ts";

const VALUE_TAG = 0x09;
const TIME_TAG = 0x10;
/** The length of a sample of our time: two tags, 8 bytes and a varint of 6 bytes. */
const USUAL_LENGTH = 16;
const LAST_BIT = 0x80;
const LOW_VARINT = 2 ** 28;

/** The batch of a request, and the latest possible time of a sample in milliseconds since the epoch. */
export interface SampleTarget {
  readonly batch: Batch;
  readonly latestMillis: number;
}

/**
 * Reads a message `Sample` of either version from the reader's position to `end`, and adds it to the batch. The value that ends a series is a
 * NaN with bits of its own (https://prometheus.io/docs/specs/prw/remote_write_spec/#stale-markers). Every NaN is a missing value here.
 */
export function readSample(
  reader: protobuf.Reader,
  body: Buffer,
  view: DataView,
  end: number,
  place: SeriesPlace,
  { batch, latestMillis }: SampleTarget,
): void {
  const start = reader.pos;
  growBatch(batch);
  const { times, values, size } = batch;
  if (end - start === USUAL_LENGTH && body[start] === VALUE_TAG && body[start + 9] === TIME_TAG) {
    values[size] = view.getFloat64(start + 1, true);
    const at = start + 10;
    const [a, b, c, d, e, f] = [body[at]!, body[at + 1]!, body[at + 2]!, body[at + 3]!, body[at + 4]!, body[at + 5]!];
    if ((a & b & c & d & e & LAST_BIT) === 0 || f >= LAST_BIT)
      throw new RangeError("a time is not as long as its sample");
    const low = (a & 0x7f) | ((b & 0x7f) << 7) | ((c & 0x7f) << 14) | ((d & 0x7f) << 21);
    times[size] = low + ((e & 0x7f) | (f << 7)) * LOW_VARINT;
    reader.pos = end;
  } else {
    values[size] = 0;
    times[size] = 0;
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag === VALUE_TAG) {
        values[size] = view.getFloat64(reader.pos, true);
        reader.skip(8);
      } else if (tag === TIME_TAG) times[size] = Number(reader.int64());
      else skipField(reader, tag);
    }
    if (reader.pos !== end) throw new RangeError("a sample is longer than its length");
  }
  if (times[size]! < 0 || times[size]! > latestMillis) return dropFrom(batch, "time", 1);
  batch.places[size] = place;
  batch.size = size + 1;
  batch.samples += 1;
}

/** Skips a field. Groups do not exist in proto3. Throws a `RangeError` for a group and for a field with the number 0. */
export function skipField(reader: protobuf.Reader, tag: number): void {
  const wireType = tag & 7;
  if (wireType === 3 || wireType === 4 || tag >>> 3 === 0) throw new RangeError(`no field has the tag ${tag}`);
  reader.skipType(wireType);
}
