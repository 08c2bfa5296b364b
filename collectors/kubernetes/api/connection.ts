import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { addAbortSignal } from "node:stream";
import type { Clock } from "../../../runtime/clock.ts";
import { startDeadline } from "../../../runtime/deadline.ts";
import { ApiError, apiErrorOf } from "./api-error.ts";
import { createServerClock, type ServerClock } from "./server-clock.ts";

/** The address of an API server, with headers and TLS settings. Certificates are PEM texts, not paths. */
export interface ApiAccess {
  /** `https://host:port`, with a path if a proxy puts the server under one. */
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: {
    readonly ca?: string | Buffer;
    readonly cert?: string | Buffer;
    readonly key?: string | Buffer;
    readonly servername?: string;
    readonly rejectUnauthorized?: boolean;
  };
}

/** Returns the current access, because tokens rotate. `fresh` means that the server rejected the last one. */
export type ApiAccessSource = (fresh: boolean) => Promise<ApiAccess>;

/** One request. */
export interface ApiRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly method?: "GET" | "POST" | "PUT";
  readonly body?: unknown;
  readonly accept?: string;
  /** The longest silence of the server, the wait for the start of the response included. */
  readonly silenceMillis: number;
  readonly signal: AbortSignal;
}

/** A connection to one API server. Every method fails with an {@link ApiError} or the signal's reason. */
export interface ApiConnection {
  /** Resolves with the body of a successful response as a stream. The stream throws if the transfer breaks. */
  open(request: ApiRequest): Promise<AsyncIterable<Buffer>>;
  /** Returns the whole response as JSON; for small responses. */
  json<Value>(request: ApiRequest): Promise<Value>;
  readonly clock: ServerClock;
  close(): void;
}

const USER_AGENT = "gpu-ledger-collector";
const MOST_ERROR_BYTES = 64 * 1024;

/** Creates a connection; it sends nothing yet. Sockets are reused between requests as long as the access stays the same. */
export function createApiConnection(access: ApiAccessSource, clock: Clock): ApiConnection {
  const serverClock = createServerClock(clock);
  let agent: { readonly tls: string; readonly of: HttpAgent | HttpsAgent } | undefined;

  function agentOf({ server, tls }: ApiAccess): HttpAgent | HttpsAgent {
    const key = JSON.stringify([server, tls]);
    if (agent?.tls !== key) {
      agent?.of.destroy();
      const secure = server.startsWith("https:");
      agent = {
        tls: key,
        of: secure ? new HttpsAgent({ keepAlive: true, ...tls }) : new HttpAgent({ keepAlive: true }),
      };
    }
    return agent.of;
  }

  async function send(request: ApiRequest, fresh: boolean): Promise<IncomingMessage> {
    const now = await access(fresh);
    const url = new URL(now.server.replace(/\/$/, "") + request.path);
    for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value);
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const started = clock.monotonicMillis();
    const silence = (): ApiError => new ApiError("silent", `the server sent nothing for ${request.silenceMillis} ms`);
    const deadline = startDeadline(request.signal, request.silenceMillis);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
        agent: agentOf(now),
        method: request.method ?? "GET",
        headers: {
          accept: request.accept ?? "application/json",
          "user-agent": USER_AGENT,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...now.headers,
        },
      });
      // The end does not depend on the socket, which has no timeout while it connects.
      const stop = (): void => {
        reject(deadline.isOver ? silence() : (deadline.signal.reason as Error));
        sent.destroy();
      };
      deadline.signal.addEventListener("abort", stop, { once: true });
      sent.once("response", (response) => {
        deadline.end();
        response.setTimeout(request.silenceMillis, () => response.destroy(silence()));
        resolve(addAbortSignal(request.signal, response));
      });
      sent.on("error", reject);
      if (deadline.signal.aborted) stop();
      else sent.end(body);
    }).finally(() => deadline.end());
    serverClock.observe(answer.headers.date, clock.monotonicMillis() - started);
    return answer;
  }

  async function attempt(request: ApiRequest, fresh: boolean): Promise<IncomingMessage> {
    const answer = await send(request, fresh);
    const status = answer.statusCode ?? 0;
    if (status < 300) return answer;
    const body = (await readAll(answer, MOST_ERROR_BYTES)).toString("utf8");
    throw apiErrorOf(status, body, answer.headers["retry-after"]);
  }

  /** Sends a request. After a 401 it sends it once more with fresh credentials, because the token may have just been rotated. */
  async function accepted(request: ApiRequest): Promise<IncomingMessage> {
    try {
      return await attempt(request, false);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "unauthorized") throw explain(error, request.signal);
      return await attempt(request, true).catch((again: unknown) => {
        throw explain(again, request.signal);
      });
    }
  }

  return {
    clock: serverClock,
    async open(request) {
      return chunksOf(await accepted(request), request.signal);
    },
    async json<Value>(request: ApiRequest) {
      const answer = await accepted(request);
      const body = await readAll(answer, Infinity).catch((error: unknown) => {
        throw explain(error, request.signal);
      });
      try {
        return JSON.parse(body.toString("utf8")) as Value;
      } catch (cause) {
        throw new ApiError("garbage", "the answer is not JSON", { cause });
      }
    },
    close() {
      agent?.of.destroy();
    },
  };
}

async function* chunksOf(answer: IncomingMessage, signal: AbortSignal): AsyncIterable<Buffer> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    throw explain(error, signal);
  } finally {
    answer.destroy();
  }
}

async function readAll(answer: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > mostBytes) break;
  }
  return Buffer.concat(chunks);
}

function explain(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof ApiError) return error;
  return new ApiError("unavailable", error instanceof Error ? error.message : String(error), { cause: error });
}
