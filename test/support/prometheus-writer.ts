import protobuf from "protobufjs/minimal.js";
import { compressSync } from "snappy";

/** A series with its samples. Times are in milliseconds since the epoch and ascending. */
export interface WrittenSeries {
  /** With `__name__`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** Encodes a request of Prometheus' remote write 1.0, compressed. */
export function writeRequest(series: readonly WrittenSeries[]): Uint8Array<ArrayBuffer> {
  const writer = protobuf.Writer.create();
  for (const { labels, times, values } of series) {
    writer.uint32(10).fork();
    for (const [name, value] of Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      writer.uint32(10).fork().uint32(10).string(name).uint32(18).string(value).ldelim();
    for (let index = 0; index < times.length; index++)
      writer.uint32(18).fork().uint32(9).double(values[index]!).uint32(16).int64(times[index]!).ldelim();
    writer.ldelim();
  }
  return new Uint8Array(compressSync(Buffer.from(writer.finish())));
}

/** Sends samples to a server by remote write. Fails with the sentence of the server. */
export async function writeSamples(
  url: string,
  series: readonly WrittenSeries[],
  path = "/api/v1/write",
): Promise<void> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: {
      "content-type": "application/x-protobuf",
      "content-encoding": "snappy",
      "x-prometheus-remote-write-version": "0.1.0",
    },
    body: writeRequest(series),
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
}
