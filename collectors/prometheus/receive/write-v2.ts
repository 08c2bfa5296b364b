import protobuf from "protobufjs/minimal.js";
import { addFamilyTo, countSeries, dropFrom } from "./batch.ts";
import type { Batch } from "./model.ts";
import { hasBytes, type KnownSeries } from "./known-series.ts";
import { familyMeta } from "./metadata.ts";
import type { SeriesRole } from "./roles.ts";
import { readSample, skipField } from "./sample-bytes.ts";
import { createSymbols, type Symbols } from "./symbols.ts";
import { endOf, type DecoderDeps, type WriteDecoder } from "./write-v1.ts";

// Request, TimeSeries and Metadata of prometheus/prompb/io/prometheus/write/v2/types.proto.
const SYMBOL = 0x22;
const SERIES = 0x2a;
const LABEL_REFS = 0x0a;
const LABEL_REF = 0x08;
const SAMPLE = 0x12;
const METADATA = 0x2a;

/**
 * Creates a decoder of `io.prometheus.write.v2.Request` (remote write 2.0). The symbols of a request become numbers that stay the same in all
 * requests. A series is known by the numbers of its labels, compared as bytes.
 */
export function createWriteV2({ table, roles, place, limits, aheadMillis }: DecoderDeps): WriteDecoder {
  const symbols = createSymbols();
  let previous: KnownSeries | undefined;
  let ids = new Int32Array(64);
  let idView = new DataView(ids.buffer);
  const labels = createLabelRefs(symbols);

  return (body, batch, nowMillis) => {
    const reader = protobuf.Reader.create(body);
    const view = new DataView(body.buffer, body.byteOffset, body.length);
    symbols.begin(body);
    const seriesAt = readSymbols(reader, symbols);
    const target = { batch, latestMillis: nowMillis + aheadMillis };
    const roleByRef = new Map<number, SeriesRole | undefined>();
    reader.pos = seriesAt;
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag !== SERIES) {
        skipField(reader, tag);
        continue;
      }
      countSeries(batch);
      const end = endOf(reader, reader.len);
      const count = labels.read(reader, body, end);
      const nameRef = labels.nameOf(count);
      let role = roleByRef.get(nameRef);
      if (role === undefined && !roleByRef.has(nameRef)) {
        const { start, end: nameEnd } = symbols.at(nameRef);
        roleByRef.set(nameRef, (role = roles.of(body, start, nameEnd)));
      }
      const known = role === undefined ? undefined : findSeries(role, count, nowMillis);
      const reason = role === undefined ? "other-series" : known === "labels" ? "labels" : "series-limit";
      while (reader.pos < end) {
        const field = reader.uint32();
        if (field === SAMPLE && typeof known === "object")
          readSample(reader, body, view, endOf(reader, end), known.place, target);
        else if (field === METADATA && typeof known === "object")
          readMetadata(reader, endOf(reader, end), { symbols, nameRef, batch });
        else {
          if (field === SAMPLE) dropFrom(batch, reason, 1);
          skipField(reader, field);
        }
      }
      if (reader.pos !== end) throw new RangeError("a series is longer than its length");
    }
  };

  function findSeries(role: SeriesRole, count: number, nowMillis: number): KnownSeries | "labels" | undefined {
    if (count > ids.length) {
      ids = new Int32Array(count * 2);
      idView = new DataView(ids.buffer);
    }
    const { numbers } = symbols;
    const { refs } = labels;
    for (let index = 0; index < count; index++) {
      const ref = refs[index]!;
      const known = numbers[ref]!;
      ids[index] = known === 0 ? symbols.numberOf(ref) : known;
    }
    const length = count * Int32Array.BYTES_PER_ELEMENT;
    let known = previous?.next;
    if (known === undefined || known.length !== length || !hasBytes(known, idView, 0))
      known = table.find(idView, 0, length);
    if (known === undefined || known.place.layout !== known.place.target.layout) {
      if (count / 2 > limits.labels || symbols.longest(refs, count) > limits.labelBytes) return "labels";
      const texts = new Map<string, string>();
      for (let index = 0; index < count; index += 2) {
        const value = symbols.text(refs[index + 1]!);
        if (value !== "") texts.set(symbols.text(refs[index]!), value);
      }
      const placed = place(role, texts);
      if (placed === undefined) return undefined;
      if (known === undefined) known = table.add(idView, 0, length, placed, nowMillis);
      else known.place = placed;
    }
    if (previous !== undefined) previous.next = known;
    previous = known;
    known.seenMillis = nowMillis;
    return known;
  }
}

/** The references of a series' labels: names and values in turn. */
interface LabelRefs {
  readonly refs: Int32Array;
  /** Reads the references. Returns their number. */
  read(reader: protobuf.Reader, body: Buffer, end: number): number;
  /** Returns the reference of the metric's name; that of the empty symbol if the series has none. */
  nameOf(count: number): number;
}

function createLabelRefs(symbols: Symbols): LabelRefs {
  let refs: Int32Array = new Int32Array(64);
  return {
    get refs() {
      return refs;
    },
    read(reader, body, end) {
      let count = 0;
      while (reader.pos < end && (body[reader.pos] === LABEL_REFS || body[reader.pos] === LABEL_REF)) {
        const isPacked = body[reader.pos] === LABEL_REFS;
        reader.pos += 1;
        const packedEnd = isPacked ? endOf(reader, end) : end;
        // A reference has at least one byte.
        if (count + packedEnd - reader.pos > refs.length) refs = longer(refs, count + packedEnd - reader.pos);
        const [own, { size }] = [refs, symbols];
        let at = reader.pos;
        do {
          const byte = body[at]!;
          let ref = byte;
          if (byte < 0x80) at += 1;
          else if (body[at + 1]! < 0x80) {
            ref = (byte & 0x7f) | (body[at + 1]! << 7);
            at += 2;
          } else {
            reader.pos = at;
            ref = reader.uint32();
            at = reader.pos;
          }
          if (ref >= size) throw new RangeError("a reference has no symbol");
          own[count] = ref;
          count += 1;
        } while (isPacked && at < packedEnd);
        reader.pos = at;
        if (at > packedEnd || (isPacked && at !== packedEnd))
          throw new RangeError("the references are longer than their length");
      }
      if (count % 2 !== 0) throw new RangeError("a label has no value");
      return count;
    },
    nameOf(count) {
      const { metricName } = symbols;
      for (let index = 0; index < count; index += 2) if (refs[index] === metricName) return refs[index + 1]!;
      return symbols.empty;
    },
  };
}

/** Reads all symbols. Returns the position of the first series. */
function readSymbols(reader: protobuf.Reader, symbols: Symbols): number {
  let first = reader.len;
  while (reader.pos < reader.len) {
    const before = reader.pos;
    const tag = reader.uint32();
    if (tag === SYMBOL) {
      const end = endOf(reader, reader.len);
      symbols.add(reader.pos, end);
      reader.pos = end;
    } else {
      if (tag === SERIES && before < first) first = before;
      skipField(reader, tag);
    }
  }
  return first;
}

function readMetadata(
  reader: protobuf.Reader,
  end: number,
  { symbols, nameRef, batch }: { readonly symbols: Symbols; readonly nameRef: number; readonly batch: Batch },
): void {
  let [type, help, unit] = [0, symbols.empty, symbols.empty];
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === 0x08) type = reader.uint32();
    else if (tag === 0x18) help = reader.uint32();
    else if (tag === 0x20) unit = reader.uint32();
    else skipField(reader, tag);
  }
  if (reader.pos !== end) throw new RangeError("metadata is longer than its length");
  if (symbols.isNewFamily(nameRef))
    addFamilyTo(batch, symbols.text(nameRef), familyMeta(type, symbols.text(help), symbols.text(unit)));
}

function longer(array: Int32Array, least: number): Int32Array<ArrayBuffer> {
  const made = new Int32Array(least * 2);
  made.set(array);
  return made;
}
