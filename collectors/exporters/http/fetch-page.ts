import { promisify } from "node:util";
import { gunzip, type ZlibOptions } from "node:zlib";
import type { ScrapeFailure } from "../../../domain/scrape.ts";
import type { Authorization } from "./credentials.ts";
import { StaleConnectionError, type Connections, type PageConnection } from "./connections.ts";
import { failureOf, PageError } from "./page-error.ts";
import type { ReceiveBuffers } from "./receive-buffers.ts";
import type { ResponseHead } from "./response-parser.ts";

/** A request for a page, with its limits. */
export interface PageRequest {
  readonly url: URL;
  readonly authorization: Authorization;
  readonly timeoutMillis: number;
  readonly bodyLimitBytes: number;
  /** True to request gzip. Exporters respond faster without it (see docs/decisions/0003). */
  readonly gzip: boolean;
  /** The redirects that are followed: within the target's origin, or to any port and scheme of its host. */
  readonly redirects: "origin" | "host";
}

/** A page, or the reason why it is missing. */
export type PageAnswer =
  | {
      /** Valid until `release` is called. */
      readonly page: Buffer;
      /** True if the content length or the chunks prove that the body is complete. The end of the connection alone proves nothing. */
      readonly complete: boolean;
      readonly release: () => void;
    }
  | { readonly reason: ScrapeFailure; readonly detail: string };

/** Runs in another thread: decompressing a page of 32 MB takes longer than other targets may wait. */
const gunzipOff = promisify(gunzip) as (page: Buffer, options: ZlibOptions) => Promise<Buffer>;
const MOST_REDIRECTS = 5;
const ACCEPT = "text/plain;version=0.0.4;q=1,*/*;q=0.1";

/**
 * Fetches one page. Returns every failure as a value and never throws. The whole exchange, redirects included, ends within `timeoutMillis`.
 * A redirect is only followed as the request permits, and credentials are only sent to the target's own origin, so a page cannot direct the
 * collector to another program.
 */
export async function fetchPage(
  connections: Pick<Connections, "of" | "once">,
  buffers: ReceiveBuffers,
  request: PageRequest,
): Promise<PageAnswer> {
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new PageError("timeout", "no complete answer within the timeout")),
    request.timeoutMillis,
  );
  try {
    const authorization = await request.authorization();
    let url = request.url;
    for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
      const isOwn = url.origin === request.url.origin;
      const text = requestText(url, request.gzip, isOwn ? authorization : undefined);
      const connection = isOwn ? connections.of(url.origin) : connections.once(url.origin);
      const ask = (): Promise<Answer> => exchange(connection, buffers, text, deadline.signal, request.bodyLimitBytes);
      // The exporter may have closed a persistent connection in the meantime. That alone is not a failed scrape.
      const answer = await ask()
        .catch((error: unknown) => (error instanceof StaleConnectionError ? ask() : Promise.reject(error)))
        .finally(() => isOwn || connection.close());
      if (answer.location === undefined) return await inflate(answer, buffers, request.bodyLimitBytes);
      answer.release();
      if (!URL.canParse(answer.location, url))
        return { reason: "http-status", detail: "redirected to an invalid address" };
      url = new URL(answer.location, url);
      if (url.protocol !== "http:" && url.protocol !== "https:") {
        return { reason: "http-status", detail: `redirected to ${url.protocol}//, which is not a web address` };
      }
      if (url.hostname !== request.url.hostname) {
        return { reason: "http-status", detail: `redirected to another host, ${url.hostname.slice(0, 100)}` };
      }
      if (request.redirects === "origin" && url.origin !== request.url.origin) {
        const detail = `redirected to another origin, ${url.origin.slice(0, 100)}: set redirects: host in the job if it is right`;
        return { reason: "http-status", detail };
      }
    }
    return { reason: "http-status", detail: `more than ${MOST_REDIRECTS} redirects` };
  } catch (error) {
    return failureOf(error);
  } finally {
    clearTimeout(timer);
  }
}

function requestText(url: URL, gzip: boolean, authorization: string | undefined): string {
  return [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    "user-agent: gpu-ledger",
    `accept: ${ACCEPT}`,
    `accept-encoding: ${gzip ? "gzip" : "identity"}`,
    ...(authorization === undefined ? [] : [`authorization: ${authorization}`]),
    "\r\n",
  ].join("\r\n");
}

interface Answer {
  readonly page: Buffer;
  readonly complete: boolean;
  readonly encoding: string;
  readonly location: string | undefined;
  readonly release: () => void;
}

async function exchange(
  connection: PageConnection,
  buffers: ReceiveBuffers,
  request: string,
  signal: AbortSignal,
  bodyLimitBytes: number,
): Promise<Answer> {
  const body = buffers.take();
  let head: Omit<Answer, "page" | "release"> = { complete: false, encoding: "", location: undefined };
  const onHead = ({ status, headers, framed }: ResponseHead): void => {
    const location = headers.get("location");
    const redirected = status >= 300 && status < 400 && location !== undefined;
    if (status !== 200 && !redirected) {
      throw new PageError(status === 401 || status === 403 ? "denied" : "http-status", `HTTP ${status}`);
    }
    const encoding = (headers.get("content-encoding") ?? "").toLowerCase();
    head = { complete: framed, encoding, location: redirected ? location : undefined };
  };
  const onBody = (bytes: Buffer): void => {
    if (body.length + bytes.length > bodyLimitBytes)
      throw new PageError("too-large", `more than ${bodyLimitBytes} bytes`);
    body.append(bytes);
  };
  try {
    await connection.exchange({ request, onHead, onBody }, signal);
    return { ...head, page: body.page(), release: body.release };
  } catch (error) {
    body.release();
    throw error;
  }
}

async function inflate(answer: Answer, buffers: ReceiveBuffers, bodyLimitBytes: number): Promise<PageAnswer> {
  if (answer.encoding === "" || answer.encoding === "identity") return answer;
  try {
    if (answer.encoding !== "gzip" && answer.encoding !== "x-gzip") {
      const detail = `the answer is in ${answer.encoding.slice(0, 100)}, which was not requested`;
      return { reason: "encoding", detail };
    }
    const unpacked = await gunzipOff(answer.page, { maxOutputLength: bodyLimitBytes });
    const body = buffers.take();
    body.append(unpacked);
    // Gzip has its own length and checksum.
    return { page: body.page(), complete: true, release: body.release };
  } catch (error) {
    const tooLarge = error instanceof RangeError;
    return tooLarge
      ? { reason: "too-large", detail: `more than ${bodyLimitBytes} bytes after decompression` }
      : { reason: "encoding", detail: "the answer is declared as gzip, but is not gzip" };
  } finally {
    answer.release();
  }
}
