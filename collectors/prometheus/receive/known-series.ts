import type { SeriesPlace } from "./model.ts";

/** A series that was seen before, by the bytes of its labels. */
export interface KnownSeries {
  readonly view: DataView;
  readonly start: number;
  readonly length: number;
  place: SeriesPlace;
  /** The series that followed this one last time. */
  next: KnownSeries | undefined;
  seenMillis: number;
  /** Another series with the same hash. */
  chained: KnownSeries | undefined;
}

/** The known series of one version of the protocol. Their bytes are copied into blocks of memory that many series share. */
export interface KnownSeriesTable {
  readonly size: number;
  readonly bytes: number;
  /** Returns the series whose labels are the bytes of a body; undefined if the series is new. */
  find(view: DataView, start: number, end: number): KnownSeries | undefined;
  add(view: DataView, start: number, end: number, place: SeriesPlace, nowMillis: number): KnownSeries;
  /** Removes the series without a sample since a time. */
  forget(sinceMillis: number): void;
}

const BLOCK_BYTES = 256 * 1024;
/** The memory of a series beside its bytes: the entry, its place and its part of the map. */
const ENTRY_BYTES = 250;
/**
 * The most series of one hash that are compared one by one. More of them have been chosen by somebody who knows the hash, so they are found by
 * their text, whose hash in V8 has a secret.
 */
const MOST_CHAINED = 8;

/** Creates an empty table. */
export function createKnownSeriesTable(): KnownSeriesTable {
  const heads = new Map<number, KnownSeries>();
  const crowded = new Map<string, KnownSeries>();
  let block = Buffer.alloc(0);
  let blockView = new DataView(block.buffer, 0, 0);
  let used = 0;
  let [size, bytes] = [0, 0];

  return {
    get size() {
      return size;
    },
    get bytes() {
      return bytes;
    },
    find(view, start, end) {
      for (let known = heads.get(hashOf(view, start, end)); known !== undefined; known = known.chained)
        if (known.length === end - start && hasBytes(known, view, start)) return known;
      return crowded.size === 0 ? undefined : crowded.get(textOf(view, start, end));
    },
    add(view, start, end, place, nowMillis) {
      const length = end - start;
      if (used + length > block.length) {
        block = Buffer.alloc(Math.max(BLOCK_BYTES, length));
        blockView = new DataView(block.buffer, block.byteOffset, block.length);
        used = 0;
      }
      block.set(new Uint8Array(view.buffer, view.byteOffset + start, length), used);
      const hash = hashOf(view, start, end);
      const known: KnownSeries = {
        view: blockView,
        start: used,
        length,
        place,
        next: undefined,
        seenMillis: nowMillis,
        chained: undefined,
      };
      const head = heads.get(hash);
      if (isFull(head)) crowded.set(textOf(view, start, end), known);
      else {
        known.chained = head;
        heads.set(hash, known);
      }
      used += length;
      size += 1;
      bytes += length + ENTRY_BYTES;
      return known;
    },
    forget(sinceMillis) {
      for (const [text, known] of crowded) {
        if (known.next !== undefined && known.next.seenMillis < sinceMillis) known.next = undefined;
        if (known.seenMillis >= sinceMillis) continue;
        crowded.delete(text);
        size -= 1;
        bytes -= known.length + ENTRY_BYTES;
      }
      for (const [hash, head] of heads) {
        const kept: KnownSeries[] = [];
        for (let known: KnownSeries | undefined = head; known !== undefined; known = known.chained)
          if (known.seenMillis >= sinceMillis) kept.push(known);
          else {
            size -= 1;
            bytes -= known.length + ENTRY_BYTES;
          }
        // A forgotten series must not keep others in memory.
        kept.forEach((known, index) => {
          known.chained = kept[index + 1];
          if (known.next !== undefined && known.next.seenMillis < sinceMillis) known.next = undefined;
        });
        if (kept.length === 0) heads.delete(hash);
        else heads.set(hash, kept[0]!);
      }
    },
  };
}

function isFull(head: KnownSeries | undefined): boolean {
  let count = 0;
  for (let known = head; known !== undefined; known = known.chained) count += 1;
  return count >= MOST_CHAINED;
}

function textOf(view: DataView, start: number, end: number): string {
  return Buffer.from(view.buffer, view.byteOffset + start, end - start).toString("latin1");
}

/** Returns whether the bytes at a position are the labels of a series. The caller has compared the lengths. */
export function hasBytes({ view: own, start: ownStart, length }: KnownSeries, view: DataView, start: number): boolean {
  const whole = length & ~7;
  let at = 0;
  for (; at < whole; at += 8) {
    // Two halves of a pair can be a NaN, which is unequal to itself.
    if (own.getFloat64(ownStart + at, true) === view.getFloat64(start + at, true)) continue;
    if (own.getInt32(ownStart + at, true) !== view.getInt32(start + at, true)) return false;
    if (own.getInt32(ownStart + at + 4, true) !== view.getInt32(start + at + 4, true)) return false;
  }
  for (; at < length; at++) if (own.getUint8(ownStart + at) !== view.getUint8(start + at)) return false;
  return true;
}

function hashOf(view: DataView, start: number, end: number): number {
  let hash = end - start;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ view.getUint8(at), 0x9e3779b1);
  return hash ^ (hash >>> 13);
}
