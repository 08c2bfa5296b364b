/**
 * Labels as the text exposition format writes them, without braces. The format escapes backslashes, quotes and line feeds, and
 * nothing else (https://prometheus.io/docs/instrumenting/exposition_formats/#comments-help-text-and-type-information).
 */
export function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escapeLabel(values[index]!)}"`).join(",");
}

const SPECIAL = /[\\"\n]/;

function escapeLabel(value: string): string {
  if (!SPECIAL.test(value)) return value;
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** Takes bytes of a page; they are written anew once it resolves. */
export type PageSink = (chunk: Uint8Array) => Promise<void>;

/** Lines of a page, put together in chunks. */
export interface PageWriter {
  /** Whether there is room for so many samples, whose labels have so many bytes in all; else `flush` makes it. */
  hasRoom(samples: number, bytes: number): boolean;
  /** `name{labels} value`, the labels as bytes from `start` to `end` of `labels`, and further ones in `more`. */
  sample(name: Buffer, labels: Buffer, start: number, end: number, more: Buffer, value: number): void;
  text(text: string): void;
  /** Gives away what was written, when the sink has done with what it was given before, and makes room. */
  flush(samples: number, bytes: number): Promise<void>;
  /** Gives away the rest, and resolves when the sink has done with all. */
  end(): Promise<void>;
}

/** Bytes of a chunk: large enough that a page of 100 MB is not a million writes. */
const CHUNK_BYTES = 256 * 1024;
/** Room for a name, braces, a blank, a number and a line feed. */
const BESIDE_LABELS = 128;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const BLANK = 0x20;
const LINE_FEED = 0x0a;

/**
 * A writer of nothing yet. It has two chunks, one with the sink and one that is written: pages of fresh memory would make the
 * collector go through the whole heap again and again.
 */
export function createPageWriter(sink: PageSink): PageWriter {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let other = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let at = 0;
  let given: Promise<void> = Promise.resolve();

  async function flush(needed: number): Promise<void> {
    await given;
    if (at > 0) given = sink(chunk.subarray(0, at));
    // Who fails while the next chunk is written is heard at its end.
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
