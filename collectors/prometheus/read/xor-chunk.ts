/**
 * Prometheus' XOR chunks (https://github.com/prometheus/prometheus/blob/main/tsdb/docs/format/chunks.md): a count of two bytes, then a
 * stream of bits with the first time and value, and for each further sample the change of the time's difference and the changed bits of the
 * value.
 */

/** Samples in the order of time. Only the first `count` of each array count. The next chunk overwrites the arrays. */
export interface Samples {
  /** Milliseconds since the epoch. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly count: number;
}

/** The lengths of a changed difference, by the number of leading ones before it. */
const DELTA_BITS = [0, 14, 17, 20, 64];
const HALF = 2 ** 32;
/** The longest sample: the prefixes and two words of 64 bits. */
const MOST_BITS_OF_SAMPLE = 160;

const eightBytes = new Float64Array(1);
const halves = new Int32Array(eightBytes.buffer);
let bytes = new Uint8Array(4096);
/** The position of the next bit. */
let at = 0;
let times = new Float64Array(256);
let values = new Float64Array(256);

/**
 * Decodes the chunk between two offsets of some bytes. Staleness markers are the NaN that they are. Throws a RangeError if the chunk ends before
 * its last sample.
 */
export function decodeXorChunk(data: Buffer, from: number, until: number): Samples {
  const length = until - from;
  const count = length < 2 ? 0 : (data[from]! << 8) | data[from + 1]!;
  const end = length * 8;
  copy(data, from, until);
  reserve(count);
  at = 16;
  let time = 0;
  let delta = 0;
  let high = 0;
  let low = 0;
  let leading = 0;
  let changed = 0;
  for (let index = 0; index < count; index++) {
    if (at >= end) throw new RangeError(`a chunk ends before sample ${index + 1} of ${count}`);
    if (index === 0) {
      const zigzag = readVarint();
      time = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
      high = readWord(32) | 0;
      low = readWord(32) | 0;
    } else {
      if (index === 1) delta = readVarint();
      else if (readBits(1) === 1) delta += readChange();
      time += delta;
      if (readBits(1) === 1) {
        if (readBits(1) === 1) {
          const lengths = readBits(11);
          leading = lengths >> 6;
          changed = lengths & 63 || 64;
        }
        const trailing = 64 - leading - changed;
        // There are `changed` bits from `leading` on, of a word of two halves.
        if (leading >= 32) low ^= readWord(changed) << trailing;
        else if (trailing >= 32) high ^= readWord(changed) << (trailing - 32);
        else {
          high ^= readWord(32 - leading);
          low ^= readWord(32 - trailing) << trailing;
        }
      }
    }
    times[index] = time;
    // Every machine that Node runs on is little-endian.
    halves[0] = low;
    halves[1] = high;
    values[index] = eightBytes[0]!;
  }
  if (at > end) throw new RangeError(`a chunk ends within its last sample`);
  return { times, values, count };
}

/** Copies a chunk, with zeroes after its end: bits are read from four bytes at once. */
function copy(data: Buffer, from: number, until: number): void {
  const length = until - from;
  const padding = MOST_BITS_OF_SAMPLE / 8 + 4;
  if (bytes.length < length + padding) bytes = new Uint8Array(length * 2 + padding);
  data.copy(bytes, 0, from, until);
  bytes.fill(0, length, length + padding);
}

function reserve(count: number): void {
  if (times.length >= count) return;
  times = new Float64Array(count);
  values = new Float64Array(count);
}

/** Returns 1 to 25 bits. */
function readBits(wanted: number): number {
  const first = at >> 3;
  const word = (bytes[first]! << 24) | (bytes[first + 1]! << 16) | (bytes[first + 2]! << 8) | bytes[first + 3]!;
  const found = (word << (at & 7)) >>> (32 - wanted);
  at += wanted;
  return found;
}

/** Returns 1 to 32 bits. */
function readWord(wanted: number): number {
  return wanted <= 25 ? readBits(wanted) : readBits(wanted - 16) * 65_536 + readBits(16);
}

function readVarint(): number {
  let result = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = readBits(8);
    result += (byte & 127) * factor;
    if (byte < 128 || factor > HALF * HALF) return result;
  }
}

/** Returns a changed difference, after its first bit of 1. */
function readChange(): number {
  let ones = 1;
  while (ones < 4 && readBits(1) === 1) ones += 1;
  const wanted = DELTA_BITS[ones]!;
  if (wanted === 64) return (readWord(32) | 0) * HALF + readWord(32);
  const found = readBits(wanted);
  return found > 2 ** (wanted - 1) ? found - 2 ** wanted : found;
}
