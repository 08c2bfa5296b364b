import type protobuf from "protobufjs/minimal.js";
import type { OpenBatch } from "./batch.ts";
import type { SeriesPlace } from "./series-place.ts";

const VALUE_TAG = 0x09;
const TIME_TAG = 0x10;
/** The length of a sample of our time: two tags, 8 bytes and a varint of 6 bytes. */
const USUAL_LENGTH = 16;
const LAST_VARINT_BYTE = 6;

/** The batch of a request, and the latest possible time of a sample in milliseconds since the epoch. */
export interface SampleTarget {
  readonly batch: OpenBatch;
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
  let value = 0;
  let time = 0;
  if (end - start === USUAL_LENGTH && body[start] === VALUE_TAG && body[start + 9] === TIME_TAG) {
    value = view.getFloat64(start + 1, true);
    time = timeAt(body, start + 10, end);
    reader.pos = end;
  } else {
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag === VALUE_TAG) {
        value = view.getFloat64(reader.pos, true);
        reader.skip(8);
      } else if (tag === TIME_TAG) time = Number(reader.int64());
      else skipField(reader, tag);
    }
    if (reader.pos !== end) throw new RangeError("a sample is longer than its length");
  }
  if (time < 0 || time > latestMillis) batch.drop("time", 1);
  else batch.add(place, time, value);
}

/** Skips a field. Groups do not exist in proto3. */
export function skipField(reader: protobuf.Reader, tag: number): void {
  const wireType = tag & 7;
  if (wireType === 3 || wireType === 4 || tag >>> 3 === 0) throw new RangeError(`no field has the tag ${tag}`);
  reader.skipType(wireType);
}

/** Reads a varint of exactly 6 bytes; other lengths are damaged here, because the sample's length is fixed. */
function timeAt(body: Buffer, start: number, end: number): number {
  let time = 0;
  let factor = 1;
  for (let at = start; at < end; at++) {
    const byte = body[at]!;
    time += (byte & 0x7f) * factor;
    if (byte < 0x80) {
      if (at !== end - 1 || at - start >= LAST_VARINT_BYTE) throw new RangeError("a time is shorter than its sample");
      return time;
    }
    factor *= 128;
  }
  throw new RangeError("a time is longer than its sample");
}
