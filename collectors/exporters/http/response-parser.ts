import { PageError } from "./page-error.ts";

/** The head of a response. Header names are in lower case. Several headers with one name are joined by commas. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** True if the content length or the chunks show the end of the body. Otherwise the connection's end does, which proves nothing. */
  readonly framed: boolean;
}

/** A parser of one HTTP/1.1 response from the bytes of a connection, however they are split. */
export interface ResponseParser {
  /** Takes bytes. Returns `true` when the response is complete. Throws a {@link PageError} if they are not HTTP. */
  feed(bytes: Buffer): boolean;
  /** Handles the end of the connection. Returns `true` if that is a valid end of the response. */
  end(): boolean;
  /** True if the connection can be used for another request after the response is complete. */
  readonly reusable: boolean;
  /** True if any byte of a response has arrived. */
  readonly begun: boolean;
}

const LONGEST_HEAD_BYTES = 64 * 1024;
const LONGEST_CHUNK_LINE = 64;
const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_FEED = 10;

type State = "head" | "sized" | "chunk-size" | "chunk-data" | "chunk-end" | "trailer" | "until-end" | "whole";

/**
 * Creates a parser for one response to a GET (RFC 9112). `onBody` gets views into the given bytes, which are valid only during the call.
 * Interim responses (1xx) are skipped.
 */
export function createResponseParser(
  onHead: (head: ResponseHead) => void,
  onBody: (bytes: Buffer) => void,
): ResponseParser {
  let state: State = "head";
  let pending: Buffer = Buffer.alloc(0);
  let left = 0;
  let keepAlive = false;
  let begun = false;

  function feed(bytes: Buffer): boolean {
    begun ||= bytes.length > 0;
    let rest = bytes;
    while (state !== "whole" && rest.length > 0) rest = step(rest);
    // Bytes after a complete response belong to no request, so the connection is not reused.
    if (state === "whole" && rest.length > 0) keepAlive = false;
    return state === "whole";
  }

  function step(bytes: Buffer): Buffer {
    switch (state) {
      case "head":
        return takeHead(bytes);
      case "sized":
      case "chunk-data":
        return takeData(bytes);
      case "until-end":
        onBody(bytes);
        return NOTHING;
      case "chunk-size":
      case "chunk-end":
      case "trailer":
        return takeLine(bytes);
      case "whole":
        return bytes;
    }
  }

  function takeHead(bytes: Buffer): Buffer {
    const all = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    const end = all.indexOf(HEAD_END);
    if (end < 0) {
      if (all.length > LONGEST_HEAD_BYTES) throw notHttp("the head of the answer does not end");
      pending = Buffer.from(all);
      return NOTHING;
    }
    pending = NOTHING;
    const read = headOf(all.toString("latin1", 0, end));
    if (read !== undefined) {
      ({ keepAlive, state, length: left } = read);
      onHead(read.head);
    }
    return all.subarray(end + HEAD_END.length);
  }

  function takeData(bytes: Buffer): Buffer {
    const taken = Math.min(left, bytes.length);
    onBody(bytes.subarray(0, taken));
    left -= taken;
    if (left === 0) state = state === "sized" ? "whole" : "chunk-end";
    return bytes.subarray(taken);
  }

  /** Reads a line of the chunked coding: a size, the line feed after a chunk, or a trailer. */
  function takeLine(bytes: Buffer): Buffer {
    const feedAt = bytes.indexOf(LINE_FEED);
    const part = feedAt < 0 ? bytes : bytes.subarray(0, feedAt);
    const all = pending.length === 0 ? part : Buffer.concat([pending, part]);
    if (all.length > (state === "trailer" ? LONGEST_HEAD_BYTES : LONGEST_CHUNK_LINE))
      throw notHttp("a chunk's line is too long");
    if (feedAt < 0) {
      pending = Buffer.from(all);
      return NOTHING;
    }
    pending = NOTHING;
    const line = all.toString("latin1").replace(/\r$/, "");
    if (state === "chunk-size") {
      left = chunkSizeOf(line);
      state = left === 0 ? "trailer" : "chunk-data";
    } else if (state === "chunk-end") {
      if (line !== "") throw notHttp("a chunk longer than its declared length");
      state = "chunk-size";
    } else if (line === "") {
      state = "whole";
    }
    return bytes.subarray(feedAt + 1);
  }

  return {
    feed,
    end() {
      keepAlive = false;
      if (state === "until-end") state = "whole";
      return state === "whole";
    },
    get reusable() {
      return state === "whole" && keepAlive;
    },
    get begun() {
      return begun;
    },
  };
}

const NOTHING = Buffer.alloc(0);

function chunkSizeOf(line: string): number {
  const size = /^([0-9a-fA-F]{1,12})\s*(?:;.*)?$/.exec(line);
  if (size === null) throw notHttp(`a chunk of size ${JSON.stringify(line.slice(0, 40))}`);
  return Number.parseInt(size[1]!, 16);
}

/** Reads the head of a response; undefined if the response is interim. */
function headOf(
  text: string,
):
  | { readonly head: ResponseHead; readonly keepAlive: boolean; readonly state: State; readonly length: number }
  | undefined {
  const [statusLine = "", ...lines] = text.split("\r\n");
  const match = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(statusLine);
  if (match === null) throw notHttp(`the answer begins with ${JSON.stringify(statusLine.slice(0, 40))}`);
  const status = Number(match[2]);
  if (status < 200) return undefined;
  const headers = readHeaders(lines);
  const connection = (headers.get("connection") ?? "").toLowerCase();
  const keepAlive = match[1] === "1" ? !connection.includes("close") : connection.includes("keep-alive");
  const encoding = headers.get("transfer-encoding")?.toLowerCase();
  const length = headers.get("content-length");
  if (encoding !== undefined && encoding !== "chunked") throw notHttp(`transfer-encoding ${encoding}`);
  if (length !== undefined && !/^\d{1,15}$/.test(length)) throw notHttp(`content-length ${length}`);
  const head = { status, headers, framed: encoding !== undefined || length !== undefined };
  const bodyOf = (): State => {
    if (status === 204 || status === 304) return "whole";
    if (encoding !== undefined) return "chunk-size";
    if (length === undefined) return "until-end";
    return Number(length) === 0 ? "whole" : "sized";
  };
  return { head, keepAlive, state: bodyOf(), length: Number(length ?? 0) };
}

function readHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon <= 0 || /^\s/.test(line)) throw notHttp(`a header ${JSON.stringify(line.slice(0, 40))}`);
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const former = headers.get(name);
    headers.set(name, former === undefined || former === value ? value : `${former}, ${value}`);
  }
  return headers;
}

function notHttp(what: string): PageError {
  return new PageError("interrupted", `not an HTTP/1.1 answer: ${what}`);
}
