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

/** Some chunks of a series. A series can come in several parts, one after the other. */
export interface ChunkedSeries {
  /** The bytes of the labels: equal for equal labels. */
  readonly labels: readonly Uint8Array[];
  readonly chunks: readonly Uint8Array[];
}

/** Decodes a frame of a streamed answer. Throws an Error if the bytes are not one, or if a chunk is not of floats. */
export function decodeFrame(bytes: Uint8Array): readonly ChunkedSeries[] {
  const reader = protobuf.Reader.create(bytes);
  const found: ChunkedSeries[] = [];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === 10) found.push(decodeSeries(reader.bytes()));
    else reader.skipType(tag & 7);
  }
  return found;
}

function decodeSeries(bytes: Uint8Array): ChunkedSeries {
  const reader = protobuf.Reader.create(bytes);
  const labels: Uint8Array[] = [];
  const chunks: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === 10) labels.push(reader.bytes());
    else if (tag === 18) {
      const chunk = decodeChunk(reader.bytes());
      if (chunk !== undefined) chunks.push(chunk);
    } else reader.skipType(tag & 7);
  }
  return { labels, chunks };
}

/** Returns the data of a chunk of floats; undefined for histograms, which no exporter of GPUs has. */
function decodeChunk(bytes: Uint8Array): Uint8Array | undefined {
  const reader = protobuf.Reader.create(bytes);
  let encoding = 0;
  let data: Uint8Array | undefined;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === 24) encoding = reader.int32();
    else if (tag === 34) data = reader.bytes();
    else reader.skipType(tag & 7);
  }
  return encoding === XOR ? data : undefined;
}

/** Decodes the labels of a series. */
export function decodeLabels(parts: readonly Uint8Array[]): ReadonlyMap<string, string> {
  return new Map(
    parts.map((bytes) => {
      const reader = protobuf.Reader.create(bytes);
      let [name, value] = ["", ""];
      while (reader.pos < reader.len) {
        const tag = reader.uint32();
        if (tag === 10) name = reader.string();
        else if (tag === 18) value = reader.string();
        else reader.skipType(tag & 7);
      }
      return [name, value] as const;
    }),
  );
}
