import type { Scrape, ScrapeAttempt, ScrapeOrigin, ScrapeShape } from "../scrape.ts";
import type { Shape } from "./shape.ts";
import { eventShape, stableShape } from "./scrape-shapes.ts";
import { LAST_MILLIS } from "../time.ts";

/**
 * The version of the binary format of a scrape. All numbers are little-endian:
 *
 * | offset | type | content |
 * |---|---|---|
 * | 0 | u32 | length S of the stable part |
 * | 4 | u32 | length E of the event part, 0 if nothing happened |
 * | 8 | u32 | values, V |
 * | 12 | u32 | scheduled interval, ms |
 * | 16 | u32 | duration, µs |
 * | 20 | u32 | reserved, 0 |
 * | 24 | f64 | scrape time, ms since the epoch |
 * | 32 | f64 | epoch |
 * | 40 | f64 | sequence |
 * | 48 | V × f64 | the values, row by row |
 * | … | S bytes | JSON of origin and shape: the same bytes in each scrape |
 * | … | E bytes | JSON of the failure and the drop counts |
 *
 * The values come first so that they are aligned. The stable part is encoded once per target and copied. A reader keeps an unknown column
 * under its name and ignores an unknown field. Any other change raises the version, and earlier readers wait at it.
 */
export const SCRAPE_SCHEMA_VERSION = 1;

const HEADER_BYTES = 48;
const ORIGIN_BYTES = 160;
const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", { fatal: true });

/** Encodes the stable part of a target's messages. `devices` are the parts of the devices' JSON, if the caller has them. */
export function encodeStable(
  { cluster, node, target, collector }: ScrapeOrigin,
  shape: ScrapeShape,
  devices: readonly Uint8Array[] = [utf8.encode(shape.devices.map((device) => JSON.stringify(device)).join(","))],
): Uint8Array {
  const { exporter, columns } = shape;
  return encodeWithRows({ cluster, node, target, collector, exporter, columns }, "devices", devices);
}

/** Encodes an object as JSON with a list as its last field. `rows` are the parts of the list's JSON without its brackets. */
export function encodeWithRows(head: object, field: string, rows: readonly Uint8Array[]): Uint8Array {
  const start = utf8.encode(`${JSON.stringify(head).slice(0, -1)},"${field}":[`);
  return Buffer.concat([start, ...rows, utf8.encode("]}")]);
}

/** The fields that differ between scrapes, without the values. */
export type ScrapeMoment = Omit<ScrapeAttempt, "values">;

/** Encodes the message of one scrape. Returns a new buffer that belongs to the caller. `values` is copied. */
export function encodeScrape(stable: Uint8Array, moment: ScrapeMoment, values: Float64Array): Uint8Array {
  const event = encodeEvent(moment);
  const bytes = new Uint8Array(HEADER_BYTES + values.byteLength + stable.length + event.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, stable.length, true);
  view.setUint32(4, event.length, true);
  view.setUint32(8, values.length, true);
  view.setUint32(12, moment.intervalMillis, true);
  view.setUint32(16, moment.durationMicros, true);
  view.setFloat64(24, moment.scrapedAtMillis, true);
  view.setFloat64(32, moment.epoch, true);
  view.setFloat64(40, moment.sequence, true);
  bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), HEADER_BYTES);
  bytes.set(stable, HEADER_BYTES + values.byteLength);
  if (event.length > 0) bytes.set(event, bytes.length - event.length);
  return bytes;
}

const NOTHING = new Uint8Array(0);

function encodeEvent(moment: ScrapeMoment): Uint8Array {
  for (const _ in moment.dropped) return eventBytes(moment);
  return moment.failure === undefined ? NOTHING : eventBytes(moment);
}

function eventBytes({ failure, dropped }: ScrapeMoment): Uint8Array {
  return utf8.encode(JSON.stringify({ failure, dropped }));
}

/** A decoder for the messages of one consumer. It caches the stable parts of a limited number of targets. */
export interface MessageDecoder<Message> {
  /** Decodes a scrape. If the bytes are not one, returns the error as a sentence. Never throws. */
  decode(bytes: Uint8Array): Message | { readonly invalid: string };
}

/** A decoder for the messages of GPU exporters. */
export type ScrapeDecoder = MessageDecoder<Scrape>;

/** Creates a decoder for the messages of GPU exporters that caches the stable parts of at most `targets` targets. */
export function createScrapeDecoder(targets?: number): ScrapeDecoder {
  return createMessageDecoder<ScrapeOrigin & ScrapeShape, Scrape>({
    shape: stableShape,
    rowsOf: ({ devices }) => devices.length,
    messageOf: (stable, attempt) => ({
      cluster: stable.cluster,
      node: stable.node,
      target: stable.target,
      collector: stable.collector,
      ...attempt,
      shape: stable,
    }),
    targets,
  });
}

/** Creates a decoder for messages of this format with a stable part of the given shape. */
export function createMessageDecoder<Stable extends { readonly columns: readonly string[] }, Message>(options: {
  readonly shape: Shape;
  readonly rowsOf: (stable: Stable) => number;
  readonly messageOf: (stable: Stable, attempt: ScrapeAttempt) => Message;
  /** The most targets whose stable parts are cached. */
  readonly targets?: number | undefined;
}): MessageDecoder<Message> {
  const { shape, rowsOf, messageOf, targets = 20_000 } = options;
  const known = new Map<string, { readonly bytes: Uint8Array; readonly stable: Stable }>();

  function decodeStable(bytes: Uint8Array): Stable {
    const key = stableKey(bytes);
    const hit = known.get(key);
    if (hit !== undefined && Buffer.compare(hit.bytes, bytes) === 0) return hit.stable;
    const stable = JSON.parse(text.decode(bytes)) as Stable;
    hold(shape, stable);
    if (known.size >= targets) known.clear();
    known.set(key, { bytes: new Uint8Array(bytes), stable });
    return stable;
  }

  return {
    decode(bytes) {
      if (bytes.length < HEADER_BYTES) return { invalid: `${bytes.length} bytes are shorter than a header` };
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const stableLength = view.getUint32(0, true);
      const eventLength = view.getUint32(4, true);
      const count = view.getUint32(8, true);
      const stableStart = HEADER_BYTES + count * 8;
      const scrapedAtMillis = view.getFloat64(24, true);
      const epoch = view.getFloat64(32, true);
      const sequence = view.getFloat64(40, true);
      if (![scrapedAtMillis, epoch, sequence].every(isPossible)) {
        return { invalid: `time ${scrapedAtMillis}, epoch ${epoch} and sequence ${sequence} are not all possible` };
      }
      if (stableStart + stableLength + eventLength !== bytes.length) {
        return { invalid: `the parts add up to ${stableStart + stableLength + eventLength} of ${bytes.length} bytes` };
      }
      try {
        const stable = decodeStable(bytes.subarray(stableStart, stableStart + stableLength));
        const rows = rowsOf(stable);
        if (stable.columns.length * rows !== count) {
          return { invalid: `${count} values for ${rows} rows of ${stable.columns.length} columns` };
        }
        const values = new Float64Array(count);
        new Uint8Array(values.buffer).set(bytes.subarray(HEADER_BYTES, stableStart));
        const event = eventLength === 0 ? { dropped: {} } : decodeEvent(bytes.subarray(bytes.length - eventLength));
        return messageOf(stable, {
          epoch,
          sequence,
          scrapedAtMillis,
          intervalMillis: view.getUint32(12, true),
          durationMicros: view.getUint32(16, true),
          ...event,
          values,
        });
      } catch (error) {
        return { invalid: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

function isPossible(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= LAST_MILLIS;
}

function decodeEvent(bytes: Uint8Array): Pick<Scrape, "failure" | "dropped"> {
  const event = JSON.parse(text.decode(bytes)) as Pick<Scrape, "failure" | "dropped">;
  hold(eventShape, event);
  return event;
}

function hold(shape: Shape, value: unknown): void {
  const invalid = shape(value, "it");
  if (invalid !== undefined) throw new SyntaxError(invalid);
}

/**
 * Returns a cache key: the length and a hash of sampled bytes. The key only finds the entry; the bytes themselves are compared afterwards.
 * The origin at the beginning is hashed in full, because numbered nodes may differ in little else.
 */
function stableKey(bytes: Uint8Array): string {
  let hash = bytes.length;
  for (let i = 0; i < bytes.length; i += i < ORIGIN_BYTES ? 1 : 13) hash = (Math.imul(hash, 31) + bytes[i]!) | 0;
  return `${bytes.length}:${hash}`;
}

/** Returns the key of a scrape on `gpu.samples`. All scrapes of a node share a partition. */
export function sampleKey({ cluster, node }: Pick<ScrapeOrigin, "cluster" | "node">): string {
  return JSON.stringify([cluster, node]);
}
