import { compressSync } from "snappy";
import type { Dispatcher } from "undici";
import type { Series } from "../target-series.ts";
import type { OnSamples, ReadSamples } from "./samples.ts";
import { SourceError } from "./source-error.ts";
import { decodeLabels, encodeReadRequest, readFrame, type FrameReceiver } from "./wire.ts";
import { decodeXorChunk } from "./xor-chunk.ts";

const HEADERS = {
  "content-type": "application/x-protobuf",
  "content-encoding": "snappy",
  "x-prometheus-remote-read-version": "0.1.0",
};
/** The size of a frame's checksum, and the largest frame. Servers send frames of about 1 MB. */
const CHECKSUM_BYTES = 4;
const MOST_FRAME_BYTES = 64 * 1024 ** 2;

/** Reads samples by remote read with streamed chunks: the server sends its chunks as they are stored. */
export const readChunks: ReadSamples = (client, matchers, { fromMillis, untilMillis }, known, onSeries) => {
  const body = compressSync(Buffer.from(encodeReadRequest(matchers, fromMillis, untilMillis - 1)));
  return client.send({ path: "/api/v1/read", headers: HEADERS, body }, async (answer) => {
    const type = String(answer.headers["content-type"] ?? "");
    if (!type.startsWith("application/x-streamed-protobuf")) {
      await answer.body.dump();
      throw new SourceError("unsupported", `the server has no remote read with chunks: it answered ${type}`);
    }
    for await (const frame of framesOf(answer.body)) {
      let onSamples: OnSamples = () => {};
      const receiver: FrameReceiver = {
        onSeries(from, until) {
          const make = (): Series => seriesOf(frame.subarray(from, until));
          onSamples = onSeries(known(frame.toString("latin1", from, until), make));
        },
        onChunk: (from, until) => onSamples(decodeXorChunk(frame, from, until)),
      };
      try {
        readFrame(frame, receiver);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw new SourceError("broken", "a frame of the answer cannot be read", { cause: error });
      }
    }
  });
};

function seriesOf(bytes: Uint8Array): Series {
  const labels = new Map(decodeLabels(bytes));
  const name = labels.get("__name__") ?? "";
  labels.delete("__name__");
  return { name, labels };
}

/**
 * Yields the frames of a body: each has its length as a varint, a checksum and its bytes. The checksum is not compared, because TCP and TLS
 * have their own. Fails if the body ends within a frame.
 */
async function* framesOf(body: Dispatcher.ResponseData["body"]): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let missing = 0;
  let parts: Buffer[] = [];
  for await (const part of body as AsyncIterable<Buffer>) {
    parts.push(part);
    missing -= part.length;
    if (missing > 0) continue;
    rest = Buffer.concat([rest, ...parts]);
    parts = [];
    for (;;) {
      const head = headOf(rest);
      if (head === undefined) {
        missing = 1;
        break;
      }
      const end = head.start + head.length;
      missing = end - rest.length;
      if (missing > 0) break;
      yield rest.subarray(head.start, end);
      rest = rest.subarray(end);
    }
  }
  if (rest.length > 0 || parts.length > 0) throw new SourceError("unavailable", "the answer ended within a frame");
}

/** Returns the start and the length of the first frame's bytes; undefined if its length is not complete. */
function headOf(bytes: Buffer): { readonly start: number; readonly length: number } | undefined {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    length += (bytes[at]! & 127) * 128 ** at;
    if (length > MOST_FRAME_BYTES) throw new SourceError("broken", `a frame of ${length} bytes`);
    if (bytes[at]! < 128) return { start: at + 1 + CHECKSUM_BYTES, length };
  }
  return undefined;
}
