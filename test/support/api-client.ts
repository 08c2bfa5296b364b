import { request, type IncomingMessage } from "node:http";

/** A complete answer of an API server. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly bytes: Buffer;
  /** The body as JSON, in the type that the test expects. */
  json<Value = Record<string, unknown>>(): Value;
}

/** An event of a watch. */
export interface WatchEvent {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly code?: number;
    readonly reason?: string;
    readonly metadata: {
      readonly name?: string;
      readonly resourceVersion: string;
      readonly annotations?: Readonly<Record<string, string>>;
      readonly labels?: Readonly<Record<string, string>>;
    };
    readonly spec?: unknown;
  };
}

/** A watch that a test reads. */
export interface WatchReader {
  readonly status: number;
  /** The text received so far. */
  readonly text: string;
  /** The events in complete lines that can be parsed. */
  readonly events: readonly WatchEvent[];
  /** Resolves when `count` events have come; fails after two seconds. */
  until(count: number): Promise<readonly WatchEvent[]>;
  /** Resolves with the way in which the stream ended: complete, or cut off. */
  readonly ended: Promise<"whole" | "cut">;
  close(): void;
}

/** Sends one request and reads the answer; a body goes out as JSON. Fails where the answer is cut off. */
export async function ask(
  url: string,
  options: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: unknown } = {},
): Promise<ApiAnswer> {
  const response = await open(url, options);
  const parts: Buffer[] = [];
  for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
  const bytes = Buffer.concat(parts);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    bytes,
    json: <Value>() => JSON.parse(bytes.toString("utf8")) as Value,
  };
}

/** Reads an answer to its end, piece by piece, and discards it. Returns its length in bytes. */
export async function drain(url: string, onPiece: (bytes: number) => void): Promise<number> {
  let bytes = 0;
  for await (const piece of (await open(url, {})) as AsyncIterable<Buffer>) {
    bytes += piece.length;
    onPiece(bytes);
  }
  return bytes;
}

/** Opens a watch and reads it. */
export async function watch(url: string, headers: Record<string, string> = {}): Promise<WatchReader> {
  const response = await open(url, { headers });
  let text = "";
  let onMore = (): void => {};
  response.setEncoding("utf8");
  response.on("data", (part: string) => {
    text += part;
    onMore();
  });
  const ended = new Promise<"whole" | "cut">((resolve) => {
    response.on("end", () => resolve("whole"));
    response.on("error", () => resolve("cut"));
  });
  const reader: WatchReader = {
    status: response.statusCode ?? 0,
    get text() {
      return text;
    },
    get events() {
      return text.split("\n").slice(0, -1).flatMap(readEvent);
    },
    async until(count) {
      const deadline = Date.now() + 2000;
      while (reader.events.length < count) {
        const left = deadline - Date.now();
        if (left <= 0) throw new Error(`${reader.events.length} of ${count} events came:\n${text.slice(0, 500)}`);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          onMore = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      return reader.events;
    },
    ended,
    close: () => response.destroy(),
  };
  return reader;
}

function readEvent(line: string): WatchEvent[] {
  try {
    return [JSON.parse(line) as WatchEvent];
  } catch {
    return [];
  }
}

function open(
  url: string,
  {
    method = "GET",
    headers = {},
    body,
  }: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: unknown },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method, headers, agent: false }, resolve);
    sending.on("error", reject);
    sending.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
