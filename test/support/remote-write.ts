import protobuf from "protobufjs/minimal.js";
import { compressSync } from "snappy";

/** A series of a request, with its samples as time in milliseconds and value. */
export interface WrittenSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: readonly (readonly [atMillis: number, value: number])[];
}

/** The metadata of a family in a request. */
export interface WrittenFamily {
  readonly name: string;
  readonly help: string;
  /** 1 for a counter, 2 for a gauge. */
  readonly type: number;
}

/** The value that ends a series, as its bytes: a NaN of JavaScript does not keep its bits. */
const STALE = Buffer.from("020000000000f07f", "hex");
/** A sample with this value is written as the end of its series. */
export const ENDED = Number.NaN;

function writeSample(writer: protobuf.Writer, tag: number, [at, value]: WrittenSeries["samples"][number]): void {
  writer.uint32(tag).fork();
  // As Prometheus writes it: a value of 0 is left out.
  if (Number.isNaN(value))
    writer.uint32(9).fixed64({ low: STALE.readInt32LE(0), high: STALE.readInt32LE(4), unsigned: true } as never);
  else if (value !== 0) writer.uint32(9).double(value);
  writer.uint32(16).int64(at);
  writer.ldelim();
}

const sorted = (labels: WrittenSeries["labels"]): [string, string][] =>
  Object.entries(labels).toSorted(([left], [right]) => (left < right ? -1 : 1));

/** Returns the body of a request of remote write 1.0, not compressed. */
export function writeV1(series: readonly WrittenSeries[], families: readonly WrittenFamily[] = []): Buffer {
  const writer = protobuf.Writer.create();
  for (const { labels, samples } of series) {
    writer.uint32(10).fork();
    for (const [name, value] of sorted(labels))
      writer.uint32(10).fork().uint32(10).string(name).uint32(18).string(value).ldelim();
    for (const sample of samples) writeSample(writer, 18, sample);
    writer.ldelim();
  }
  for (const { name, help, type } of families)
    writer.uint32(26).fork().uint32(8).uint32(type).uint32(18).string(name).uint32(34).string(help).ldelim();
  return Buffer.from(writer.finish());
}

/** Returns the body of a request of remote write 2.0, not compressed. */
export function writeV2(series: readonly WrittenSeries[], families: readonly WrittenFamily[] = []): Buffer {
  const symbols = new Map([["", 0]]);
  const refOf = (text: string): number => {
    const known = symbols.get(text);
    if (known !== undefined) return known;
    symbols.set(text, symbols.size);
    return symbols.size - 1;
  };
  const named = new Map(families.map((family) => [family.name, family]));
  const bodies = series.map(({ labels, samples }) => {
    const writer = protobuf.Writer.create();
    writer.uint32(10).fork();
    for (const [name, value] of sorted(labels)) writer.uint32(refOf(name)).uint32(refOf(value));
    writer.ldelim();
    for (const sample of samples) writeSample(writer, 18, sample);
    const family = named.get(labels["__name__"] ?? "");
    if (family !== undefined)
      writer.uint32(42).fork().uint32(8).uint32(family.type).uint32(24).uint32(refOf(family.help)).ldelim();
    return writer.finish();
  });
  const writer = protobuf.Writer.create();
  for (const symbol of symbols.keys()) writer.uint32(34).string(symbol);
  for (const body of bodies) writer.uint32(42).bytes(body);
  return Buffer.from(writer.finish());
}

/** Returns a body as it is sent. */
export function compressed(body: Buffer): Buffer {
  return compressSync(body);
}
