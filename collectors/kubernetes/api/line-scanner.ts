const LINE_FEED = 0x0a;

/** A scanner that cuts a stream into lines. */
export interface LineScanner {
  /** Takes the next bytes. Returns the completed lines without line feeds. Empty lines are left out. */
  feed(chunk: Buffer): readonly Buffer[];
  /** The number of bytes of the incomplete line. */
  readonly pendingBytes: number;
}

/** Creates a scanner that only buffers the current line. The returned views are valid as long as the chunk. */
export function createLineScanner(): LineScanner {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  return {
    feed(chunk) {
      const lines: Buffer[] = [];
      let from = 0;
      for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
        const last = chunk.subarray(from, end);
        const line = pendingBytes === 0 ? last : Buffer.concat([...pending, last]);
        if (line.length > 0) lines.push(line);
        pending = [];
        pendingBytes = 0;
        from = end + 1;
      }
      if (from < chunk.length) {
        pending.push(Buffer.from(chunk.subarray(from)));
        pendingBytes += chunk.length - from;
      }
      return lines;
    },
    get pendingBytes() {
      return pendingBytes;
    },
  };
}
