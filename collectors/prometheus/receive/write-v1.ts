import protobuf from "protobufjs/minimal.js";
import { addFamilyTo, countSeries, dropFrom } from "./batch.ts";
import type { Batch, SampleDrop } from "./model.ts";
import { hasBytes, type KnownSeries, type KnownSeriesTable } from "./known-series.ts";
import { familyMeta } from "./metadata.ts";
import type { Roles, SeriesRole } from "./roles.ts";
import { readSample, skipField, type SampleTarget } from "./sample-bytes.ts";
import type { PlaceSeries } from "./model.ts";

/** Reads the body of a request into a batch. Throws an error of any kind if the body is damaged. */
export type WriteDecoder = (body: Buffer, batch: Batch, nowMillis: number) => void;

/** The limits of the labels of a series. */
export interface LabelLimits {
  readonly labels: number;
  readonly labelBytes: number;
}

/** The parts that the decoders of both versions share. */
export interface DecoderDeps {
  readonly table: KnownSeriesTable;
  readonly roles: Roles;
  readonly place: PlaceSeries;
  readonly limits: LabelLimits;
  /** How far the time of a sample may be ahead of ours. */
  readonly aheadMillis: number;
}

// WriteRequest, TimeSeries, Label and MetricMetadata of prometheus/prompb/{remote,types}.proto.
const SERIES = 0x0a;
const METADATA = 0x1a;
const LABEL = 0x0a;
const SAMPLE = 0x12;
const NAME = 0x0a;
const VALUE = 0x12;

const METRIC_NAME = Buffer.from("__name__");

/**
 * Creates a decoder of `prometheus.WriteRequest` (remote write 1.0). The labels of a known series are compared as bytes, first with those of
 * the series that came after the previous one last time. Only the labels of new series become texts.
 */
export function createWriteV1({ table, roles, place, limits, aheadMillis }: DecoderDeps): WriteDecoder {
  let previous: KnownSeries | undefined;

  return (body, batch, nowMillis) => {
    const reader = protobuf.Reader.create(body);
    const view = new DataView(body.buffer, body.byteOffset, body.length);
    const target = { batch, latestMillis: nowMillis + aheadMillis };
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag === SERIES) readSeries(reader, body, view, endOf(reader, reader.len), target, nowMillis);
      else if (tag === METADATA) readMetadata(reader, endOf(reader, reader.len), batch);
      else skipField(reader, tag);
    }
  };

  function readSeries(
    reader: protobuf.Reader,
    body: Buffer,
    view: DataView,
    end: number,
    target: SampleTarget,
    nowMillis: number,
  ): void {
    countSeries(target.batch);
    const start = reader.pos;
    let known = previous?.next;
    // The bytes of a label cannot begin like a sample, so that the labels end where the series is expected to have its samples.
    if (
      known !== undefined &&
      start + known.length < end &&
      body[start + known.length] === SAMPLE &&
      hasBytes(known, view, start) &&
      known.place.layout === known.place.target.layout
    )
      reader.pos = start + known.length;
    else {
      known = findSeries(reader, body, view, end, target.batch, nowMillis);
      if (previous !== undefined && known !== undefined) previous.next = known;
    }
    if (known !== undefined) {
      previous = known;
      known.seenMillis = nowMillis;
    }
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag === SAMPLE && known !== undefined)
        readSample(reader, body, view, endOf(reader, end), known.place, target);
      else if (tag === LABEL) throw new RangeError("a label comes after a sample");
      else skipField(reader, tag);
    }
    if (reader.pos !== end) throw new RangeError("a series is longer than its length");
  }

  /** Reads the labels. Returns the series; undefined if its samples are not kept, which the batch has then counted. */
  function findSeries(
    reader: protobuf.Reader,
    body: Buffer,
    view: DataView,
    end: number,
    batch: Batch,
    nowMillis: number,
  ): KnownSeries | undefined {
    const start = reader.pos;
    let role: SeriesRole | undefined;
    let count = 0;
    let longest = 0;
    while (reader.pos < end && body[reader.pos] === LABEL) {
      reader.pos += 1;
      const label = endOf(reader, end);
      if (isMetricName(body, reader.pos)) role = roleOfLabel(reader, body, label);
      longest = Math.max(longest, label - reader.pos);
      reader.pos = label;
      count += 1;
    }
    const labelsEnd = reader.pos;
    const drop = (reason: SampleDrop): undefined => {
      dropFrom(batch, reason, samplesIn(reader, labelsEnd, end));
    };
    if (role === undefined) return drop("other-series");
    const found = table.find(view, start, labelsEnd);
    if (found !== undefined && found.place.layout === found.place.target.layout) return found;
    if (count > limits.labels || longest > limits.labelBytes) return drop("labels");
    const placed = place(role, labelsOf(body, start, labelsEnd));
    if (placed === undefined) return drop("series-limit");
    if (found === undefined) return table.add(view, start, labelsEnd, placed, nowMillis);
    found.place = placed;
    return found;
  }

  function roleOfLabel(reader: protobuf.Reader, body: Buffer, end: number): SeriesRole | undefined {
    const start = reader.pos;
    reader.pos += 2 + METRIC_NAME.length;
    if (reader.pos >= end || reader.uint32() !== VALUE) throw new RangeError("a label has no value");
    const valueEnd = endOf(reader, end);
    const role = roles.of(body, reader.pos, valueEnd);
    reader.pos = start;
    return role;
  }
}

/** Reads a length. Returns the end of the field. Throws if the field is longer than the message that contains it. */
export function endOf(reader: protobuf.Reader, most: number): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > most) throw new RangeError("a field is longer than its message");
  return end;
}

function isMetricName(body: Buffer, at: number): boolean {
  if (body[at] !== NAME || body[at + 1] !== METRIC_NAME.length) return false;
  for (let index = 0; index < METRIC_NAME.length; index++)
    if (body[at + 2 + index] !== METRIC_NAME[index]) return false;
  return true;
}

/** Returns the number of samples of a series that is not kept. The reader's position stays. */
function samplesIn(reader: protobuf.Reader, from: number, end: number): number {
  let count = 0;
  reader.pos = from;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === SAMPLE) count += 1;
    skipField(reader, tag);
  }
  reader.pos = from;
  return count;
}

/** Decodes the labels of a span, with `__name__`. Labels without a value are left out, because they are as if they were absent. */
function labelsOf(body: Buffer, start: number, end: number): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  const reader = protobuf.Reader.create(body);
  reader.pos = start;
  while (reader.pos < end) {
    reader.uint32();
    const labelEnd = endOf(reader, end);
    let [name, value] = ["", ""];
    while (reader.pos < labelEnd) {
      const tag = reader.uint32();
      if (tag === NAME) name = reader.string();
      else if (tag === VALUE) value = reader.string();
      else skipField(reader, tag);
    }
    if (reader.pos !== labelEnd) throw new RangeError("a label is longer than its length");
    if (value !== "") labels.set(name, value);
  }
  return labels;
}

function readMetadata(reader: protobuf.Reader, end: number, batch: Batch): void {
  let type = 0;
  let [name, help, unit] = ["", "", ""];
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === 0x08) type = reader.uint32();
    else if (tag === 0x12) name = reader.string();
    else if (tag === 0x22) help = reader.string();
    else if (tag === 0x2a) unit = reader.string();
    else skipField(reader, tag);
  }
  if (reader.pos !== end) throw new RangeError("metadata is longer than its length");
  if (name !== "") addFamilyTo(batch, name, familyMeta(type, help, unit));
}
