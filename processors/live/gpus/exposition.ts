/**
 * Formats labels for the text exposition format, without braces. The format escapes only backslashes, quotes and line feeds
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#comments-help-text-and-type-information).
 */
export function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escapeLabel(values[index]!)}"`).join(",");
}

const SPECIAL = /[\\"\n]/;

function escapeLabel(value: string): string {
  if (!SPECIAL.test(value)) return value;
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** Takes bytes of a page. The bytes are reused once the promise resolves. */
export type PageSink = (chunk: Uint8Array) => Promise<void>;

/** A writer that collects the lines of a page in chunks. */
export interface PageWriter {
  /** Returns whether there is room for `samples` samples whose labels have `bytes` bytes in total. If not, call `flush`. */
  hasRoom(samples: number, bytes: number): boolean;
  /** Writes `name{labels} value`. The labels are the bytes from `start` to `end` of `labels`, followed by those in `more`. */
  sample(name: Buffer, labels: Buffer, start: number, end: number, more: Buffer, value: number): void;
  text(text: string): void;
  /** Passes the written bytes to the sink, when the sink has processed the previous chunk, and makes room. */
  flush(samples: number, bytes: number): Promise<void>;
  /** Passes the rest to the sink. Resolves when the sink has processed everything. */
  end(): Promise<void>;
}

/** The size of a chunk: large enough that a page of 100 MB does not need a million writes. */
const CHUNK_BYTES = 256 * 1024;
/** Room for a name, braces, a blank, a number and a line feed. */
const BESIDE_LABELS = 128;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const BLANK = 0x20;
const LINE_FEED = 0x0a;

/**
 * Creates an empty writer. It has two chunks: one at the sink, and one that is being written. Pages in newly allocated memory would make
 * the garbage collector scan the whole heap again and again.
 */
export function createPageWriter(sink: PageSink): PageWriter {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let other = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let at = 0;
  let given: Promise<void> = Promise.resolve();

  async function flush(needed: number): Promise<void> {
    await given;
    if (at > 0) given = sink(chunk.subarray(0, at));
    // An error of the sink is thrown at the end of the next chunk.
    given.catch(() => {});
    [chunk, other] = [other, chunk];
    at = 0;
    if (needed > chunk.length) chunk = Buffer.allocUnsafeSlow(needed);
  }

  const needed = (samples: number, bytes: number): number => bytes + samples * BESIDE_LABELS;

  return {
    hasRoom: (samples, bytes) => at + needed(samples, bytes) <= chunk.length,
    sample(name, labels, start, end, more, value) {
      at += name.copy(chunk, at);
      chunk[at++] = OPEN;
      at += labels.copy(chunk, at, start, end);
      if (more.length > 0) at += more.copy(chunk, at);
      chunk[at++] = CLOSE;
      chunk[at++] = BLANK;
      at += chunk.write(String(value), at, "latin1");
      chunk[at++] = LINE_FEED;
    },
    text(text) {
      at += chunk.write(text, at);
    },
    flush: (samples, bytes) => flush(needed(samples, bytes)),
    async end() {
      await flush(0);
      await given;
    },
  };
}
