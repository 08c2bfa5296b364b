import protobuf from "protobufjs/minimal.js";

/**
 * The messages of Prometheus' remote read (https://prometheus.io/docs/prometheus/latest/querying/remote_read_api/ and `remote.proto` and
 * `types.proto` of its prompb).
 */

/** A condition on a label. */
export interface Matcher {
  readonly label: string;
  readonly is: "=" | "!=" | "=~" | "!~";
  readonly value: string;
}

const MATCHER_TYPES = ["=", "!=", "=~", "!~"] as const;
const STREAMED_XOR_CHUNKS = 1;
const XOR = 1;

/** Encodes a request for the chunks of the series that matchers find, from a time until another, both included. */
export function encodeReadRequest(matchers: readonly Matcher[], fromMillis: number, untilMillis: number): Uint8Array {
  const writer = protobuf.Writer.create();
  writer.uint32(10).fork().uint32(8).int64(fromMillis).uint32(16).int64(untilMillis);
  for (const { label, is, value } of matchers) {
    writer.uint32(26).fork().uint32(8).int32(MATCHER_TYPES.indexOf(is));
    writer.uint32(18).string(label).uint32(26).string(value).ldelim();
  }
  writer.ldelim();
  return writer.uint32(18).fork().int32(STREAMED_XOR_CHUNKS).ldelim().finish();
}

/** The receiver of a frame's parts. Positions are offsets in the frame. */
export interface FrameReceiver {
  /** Gets the bytes of a series' labels, which are equal for equal labels. Its chunks follow. A series can come in several parts. */
  onSeries(from: number, until: number): void;
  /** Gets the bytes of a chunk of floats. */
  onChunk(from: number, until: number): void;
}

/**
 * Reads a frame of a streamed answer without a copy of its parts. Chunks of histograms, which no exporter of GPUs has, are left out. Throws an
 * Error if the bytes are not a frame.
 */
export function readFrame(frame: Uint8Array, receiver: FrameReceiver): void {
  const reader = protobuf.Reader.create(frame);
  while (reader.pos < frame.length) {
    const tag = reader.uint32();
    if (tag === 10) readSeries(reader, reader.uint32() + reader.pos, receiver);
    else reader.skipType(tag & 7);
  }
}

function readSeries(reader: protobuf.Reader, end: number, receiver: FrameReceiver): void {
  const from = reader.pos;
  let isKnown = false;
  while (reader.pos < end) {
    const before = reader.pos;
    const tag = reader.uint32();
    if (tag === 10) {
      reader.skip(reader.uint32());
      continue;
    }
    // The labels are the first fields of a series.
    if (!isKnown) receiver.onSeries(from, before);
    isKnown = true;
    if (tag === 18) readChunk(reader, reader.uint32() + reader.pos, receiver);
    else reader.skipType(tag & 7);
  }
}

function readChunk(reader: protobuf.Reader, end: number, receiver: FrameReceiver): void {
  let encoding = 0;
  let [from, until] = [0, 0];
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === 24) encoding = reader.int32();
    else if (tag === 34) {
      const length = reader.uint32();
      from = reader.pos;
      until = from + length;
      reader.skip(length);
    } else reader.skipType(tag & 7);
  }
  if (encoding === XOR && until > from) receiver.onChunk(from, until);
}

/** Decodes the labels of a series. */
export function decodeLabels(bytes: Uint8Array): ReadonlyMap<string, string> {
  const reader = protobuf.Reader.create(bytes);
  const labels = new Map<string, string>();
  while (reader.pos < bytes.length) {
    reader.uint32();
    const end = reader.uint32() + reader.pos;
    let [name, value] = ["", ""];
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag === 10) name = reader.string();
      else if (tag === 18) value = reader.string();
      else reader.skipType(tag & 7);
    }
    labels.set(name, value);
  }
  return labels;
}
