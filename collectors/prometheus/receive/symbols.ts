/** The symbols of a request. A symbol that any series used has a number, the same in all requests. */
export interface Symbols {
  readonly size: number;
  /** The reference of the empty text. */
  readonly empty: number;
  /** Begins a request. */
  begin(body: Buffer): void;
  /** Adds the next symbol of the request. */
  add(start: number, end: number): void;
  at(ref: number): { readonly start: number; readonly end: number };
  /** The reference of `__name__`; -1 if the request does not have it. */
  readonly metricName: number;
  /** The numbers of the symbols in all requests, by reference; 0 for a symbol that has none yet. */
  readonly numbers: Int32Array;
  /** Returns the number of a symbol, from 1. */
  numberOf(ref: number): number;
  /** Returns the length of the longest of some symbols in bytes. */
  longest(refs: Int32Array, count: number): number;
  text(ref: number): string;
  /** Returns whether the family of this name has not been asked for in this request. */
  isNewFamily(nameRef: number): boolean;
}

/** The most symbols that have a number. Beyond it the numbers start anew, and every series is found again by new ones. */
const MOST_SYMBOLS = 2_000_000;
const METRIC_NAME = Buffer.from("__name__");

/** Creates symbols without a number. `at` and `text` throw a `RangeError` for a reference without a symbol. */
export function createSymbols(): Symbols {
  const ids = new Map<string, number>();
  const families = new Set<number>();
  let body: Buffer = Buffer.alloc(0);
  let size = 0;
  let starts = new Int32Array(1024);
  let ends = new Int32Array(1024);
  let numbers = new Int32Array(1024);
  let metricName = -1;
  let nextId = 1;

  const text = (ref: number): string => {
    if (ref < 0 || ref >= size) throw new RangeError("a reference has no symbol");
    return body.toString("utf8", starts[ref], ends[ref]);
  };

  return {
    get size() {
      return size;
    },
    empty: 0,
    begin(next) {
      body = next;
      size = 0;
      metricName = -1;
      families.clear();
      if (ids.size > MOST_SYMBOLS) ids.clear();
    },
    add(start, end) {
      if (size === starts.length) {
        const longer = (old: Int32Array): Int32Array<ArrayBuffer> => {
          const made = new Int32Array(old.length * 2);
          made.set(old);
          return made;
        };
        [starts, ends, numbers] = [longer(starts), longer(ends), longer(numbers)];
      }
      starts[size] = start;
      ends[size] = end;
      numbers[size] = 0;
      const isCandidate = end - start === METRIC_NAME.length && body[start] === METRIC_NAME[0];
      if (isCandidate && body.compare(METRIC_NAME, 0, METRIC_NAME.length, start, end) === 0) metricName = size;
      size += 1;
    },
    at: (ref) => {
      if (ref >= size) throw new RangeError("a reference has no symbol");
      return { start: starts[ref]!, end: ends[ref]! };
    },
    get metricName() {
      return metricName;
    },
    get numbers() {
      return numbers;
    },
    numberOf(ref) {
      // Texts of single bytes are made faster than UTF-8, and are as distinct.
      const key = body.toString("latin1", starts[ref], ends[ref]);
      let id = ids.get(key);
      if (id === undefined) ids.set(key, (id = nextId++));
      numbers[ref] = id;
      return id;
    },
    longest(refs, count) {
      let longest = 0;
      for (let index = 0; index < count; index++) {
        const ref = refs[index]!;
        longest = Math.max(longest, ends[ref]! - starts[ref]!);
      }
      return longest;
    },
    text,
    isNewFamily: (nameRef) => {
      if (families.has(nameRef)) return false;
      families.add(nameRef);
      return true;
    },
  };
}
