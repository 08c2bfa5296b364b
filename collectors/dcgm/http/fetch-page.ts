import { gunzipSync } from "node:zlib";
import { errors, type Dispatcher } from "undici";
import type { ScrapeFailure } from "../../../domain/scrape.ts";
import type { Authorization } from "./credentials.ts";
import { failureOf, PageError } from "./page-error.ts";
import type { ReceiveBuffers } from "./receive-buffers.ts";

/** What to ask, and how much of an answer to bear. */
export interface PageRequest {
  readonly url: URL;
  readonly authorization: Authorization;
  readonly timeoutMillis: number;
  readonly bodyLimitBytes: number;
  /** Whether to ask for gzip; exporters answer quicker without (see docs/decisions/0003). */
  readonly gzip: boolean;
}

/** A page as it came, or why it did not. */
export type PageAnswer =
  | {
      /** Valid until `release` is called. */
      readonly page: Buffer;
      /** Whether length or chunks prove the body whole; a connection's end alone proves nothing. */
      readonly complete: boolean;
      readonly release: () => void;
    }
  | { readonly reason: ScrapeFailure; readonly detail: string };

const MOST_REDIRECTS = 5;
const ACCEPT = "text/plain;version=0.0.4;q=1,*/*;q=0.1";

/**
 * Fetches one page. Answers every failure as a value; throws nothing. The whole exchange, redirects included, ends
 * within `timeoutMillis`. Credentials are sent to the target's own origin only.
 */
export async function fetchPage(
  dispatcherOf: (origin: string) => Dispatcher,
  buffers: ReceiveBuffers,
  request: PageRequest,
): Promise<PageAnswer> {
  const deadline = performance.now() + request.timeoutMillis;
  try {
    const authorization = await request.authorization();
    let url = request.url;
    for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
      const headers: Record<string, string> = {
        accept: ACCEPT,
        "accept-encoding": request.gzip ? "gzip" : "identity",
        "user-agent": "gpu-ledger",
      };
      if (authorization !== undefined && url.origin === request.url.origin) headers["authorization"] = authorization;
      const once = (): Promise<Answer> =>
        exchange(dispatcherOf(url.origin), buffers, url, headers, deadline, request.bodyLimitBytes);
      // A kept connection may have been closed by the exporter since: that alone is no failed scrape.
      const answer = await once().catch((error: unknown) =>
        isStaleConnection(error) ? once() : Promise.reject(error),
      );
      if (answer.location === undefined) return inflate(answer, buffers, request.bodyLimitBytes);
      answer.release();
      url = new URL(answer.location, url);
      if (url.protocol !== "http:" && url.protocol !== "https:") {
        return { reason: "http-status", detail: `redirected to ${url.protocol}//, which is no web address` };
      }
    }
    return { reason: "http-status", detail: `more than ${MOST_REDIRECTS} redirects` };
  } catch (error) {
    return failureOf(error);
  }
}

function isStaleConnection(error: unknown): boolean {
  return error instanceof errors.SocketError;
}

interface Answer {
  readonly page: Buffer;
  readonly complete: boolean;
  readonly encoding: string;
  readonly location: string | undefined;
  readonly release: () => void;
}

function exchange(
  dispatcher: Dispatcher,
  buffers: ReceiveBuffers,
  url: URL,
  headers: Record<string, string>,
  deadline: number,
  bodyLimitBytes: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body = buffers.take();
    let controller: Dispatcher.DispatchController | undefined;
    let head: Omit<Answer, "page" | "release"> = { complete: false, encoding: "", location: undefined };
    let settled = false;
    const settle = (finish: () => void): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      finish();
    };
    const fail = (error: Error): void =>
      settle(() => {
        body.release();
        controller?.abort(error);
        reject(error);
      });
    const left = Math.max(1, deadline - performance.now());
    const timer = setTimeout(() => fail(new PageError("timeout", "no whole answer in time")), left);
    dispatcher.dispatch(
      { origin: url.origin, path: `${url.pathname}${url.search}`, method: "GET", headers },
      {
        onRequestStart(started) {
          controller = started;
          if (settled) started.abort(new PageError("timeout", "no connection in time"));
        },
        onResponseStart(_, status, responseHeaders) {
          const location = text(responseHeaders["location"]);
          const redirected = status >= 300 && status < 400 && location !== undefined;
          if (status !== 200 && !redirected) {
            const denied = status === 401 || status === 403;
            fail(new PageError(denied ? "denied" : "http-status", `HTTP ${status}`));
            return;
          }
          const framed = "content-length" in responseHeaders || "transfer-encoding" in responseHeaders;
          const encoding = (text(responseHeaders["content-encoding"]) ?? "").toLowerCase();
          head = { complete: framed, encoding, location: redirected ? location : undefined };
        },
        onResponseData(_, chunk) {
          if (settled) return;
          if (body.length + chunk.length > bodyLimitBytes) {
            fail(new PageError("too-large", `more than ${bodyLimitBytes} bytes`));
          } else {
            body.append(chunk);
          }
        },
        onResponseEnd: () => settle(() => resolve({ ...head, page: body.page(), release: body.release })),
        onResponseError: (_, error) => fail(error),
      },
    );
  });
}

function inflate(answer: Answer, buffers: ReceiveBuffers, bodyLimitBytes: number): PageAnswer {
  if (answer.encoding === "" || answer.encoding === "identity") return answer;
  try {
    if (answer.encoding !== "gzip" && answer.encoding !== "x-gzip") {
      return { reason: "encoding", detail: `the answer is in ${answer.encoding}, which was not asked for` };
    }
    const body = buffers.take();
    body.append(gunzipSync(answer.page, { maxOutputLength: bodyLimitBytes }));
    // Gzip has a length and a checksum of its own.
    return { page: body.page(), complete: true, release: body.release };
  } catch (error) {
    const tooLarge = error instanceof RangeError;
    return tooLarge
      ? { reason: "too-large", detail: `more than ${bodyLimitBytes} bytes once unpacked` }
      : { reason: "encoding", detail: "the answer says gzip and is not" };
  } finally {
    answer.release();
  }
}

function text(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
