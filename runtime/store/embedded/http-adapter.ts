/** ClickHouse's HTTP interface in front of the engine, only on this machine's loopback address. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";

import type { Logger } from "pino";

import { foreignRequest } from "../../http/sites.ts";
import { authenticate, type StoreUser } from "./credentials.ts";
import { AdapterError, adapterErrorOf, httpStatusOf, renderAdapterError } from "./adapter-error.ts";
import { readClaimedUser, readStatementRequest } from "./http-request.ts";
import { readBody, removeQuietly } from "./request-body.ts";
import type { BodyLimits } from "./request-body.ts";
import type { Answer, StatementRunner } from "./statement-runner.ts";

/** The parts that the adapter uses. */
export interface HttpAdapterParts {
  readonly runner: StatementRunner;
  readonly version: string;
  readonly user: StoreUser;
  readonly incomingFolder: string;
  readonly bodyLimits: BodyLimits;
  readonly logger: Logger;
}

/** The listening adapter. */
export interface HttpAdapter {
  readonly port: number;
  /** Accepts no new requests. Resolves when the running ones were answered. */
  close(): Promise<void>;
}

const loopback = "127.0.0.1";
/** Like a server's `http_max_uri_size`, because a query's parameters are in its URL. */
const maxHeaderBytes = 1024 * 1024;
const sliceBytes = 256 * 1024;
/** A smaller response is not compressed. */
const gzipFromBytes = 1024;

/** Listens on `port` of the loopback address; 0 takes a free port. */
export async function listenHttpAdapter(port: number, parts: HttpAdapterParts): Promise<HttpAdapter> {
  const server = createServer({ maxHeaderSize: maxHeaderBytes }, (request, response) => {
    answer(request, response, parts).catch((error: unknown) => {
      parts.logger.error({ err: error }, "a request of the embedded store could not be answered");
      response.destroy();
    });
  });
  server.requestTimeout = 0;
  server.keepAliveTimeout = 30_000;
  await listen(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await closed;
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: loopback, port, exclusive: true }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function answer(message: IncomingMessage, response: ServerResponse, parts: HttpAdapterParts): Promise<void> {
  response.setHeader("X-ClickHouse-Server-Display-Name", "gpu-ledger-embedded");
  response.setHeader("X-ClickHouse-Timezone", "UTC");
  try {
    if (foreignRequest(message, { listen: loopback, isOpen: true }) !== undefined)
      throw new AdapterError(516, "This store serves only this machine");
    const url = requestUrl(message.url ?? "/");
    response.setHeader("X-ClickHouse-Query-Id", queryIdOf(url));
    if (url.pathname === "/ping" || url.pathname === "/replicas_status") {
      await parts.runner.ping();
      response.end("Ok.\n");
    } else if (url.pathname === "/") {
      await answerStatement(message, response, url, parts);
    } else {
      response.statusCode = 404;
      response.end(`There is no handle ${url.pathname}\n`);
    }
  } catch (error) {
    answerError(message, response, error, parts);
  }
}

function requestUrl(path: string): URL {
  try {
    return new URL(`http://${loopback}${path}`);
  } catch (error) {
    throw new AdapterError(36, "The request's path is not a URL", { cause: error });
  }
}

/** Returns the query id that the client chose, if a header can contain it; otherwise a new id. */
function queryIdOf(url: URL): string {
  const chosen = url.searchParams.get("query_id") ?? "";
  return /^[\x21-\x7e]{1,256}$/.test(chosen) ? chosen : randomUUID();
}

async function answerStatement(
  message: IncomingMessage,
  response: ServerResponse,
  url: URL,
  parts: HttpAdapterParts,
): Promise<void> {
  authenticate(parts.user, readClaimedUser(url, message.headers));
  const asked = readStatementRequest(message.method ?? "GET", url, message.headers);
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const { request, statement } = await readBody(message, asked, {
    ...parts.bodyLimits,
    folder: parts.incomingFolder,
  });
  try {
    const result = await parts.runner.run(request, statement, gone.signal);
    await send(response, result, request.acceptsGzip);
  } finally {
    if (statement.kind === "insert") await removeQuietly(statement.file);
  }
}

async function send(response: ServerResponse, result: Answer, acceptsGzip: boolean): Promise<void> {
  response.setHeader("X-ClickHouse-Format", result.format);
  response.setHeader("Content-Type", contentTypeOf(result.format));
  response.setHeader(
    "X-ClickHouse-Summary",
    JSON.stringify({
      read_rows: String(result.readRows),
      read_bytes: String(result.readBytes),
      written_rows: String(result.writtenRows),
      written_bytes: String(result.writtenBytes),
      total_rows_to_read: "0",
      result_rows: String(result.writtenRows === 0 ? result.readRows : result.writtenRows),
      result_bytes: String(result.bytes.length),
      elapsed_ns: String(result.elapsedNanoseconds),
    }),
  );
  if (acceptsGzip && result.bytes.length >= gzipFromBytes) {
    response.setHeader("Content-Encoding", "gzip");
    await pipeline(slices(result.bytes), createGzip({ level: constants.Z_BEST_SPEED }), response);
  } else {
    response.setHeader("Content-Length", result.bytes.length);
    if (result.bytes.length <= sliceBytes) response.end(result.bytes);
    else await pipeline(slices(result.bytes), response);
  }
}

/** Returns a result in parts, so that a slow client only delays its own response. */
function slices(bytes: Buffer): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
    })(),
    { objectMode: false },
  );
}

function contentTypeOf(format: string): string {
  if (/^(?:JSON|JSONCompact|JSONStrings|JSONColumns.*|PrettyJSON.*)$/.test(format))
    return "application/json; charset=UTF-8";
  if (format.startsWith("JSON")) return "application/x-ndjson; charset=UTF-8";
  if (format.startsWith("CSV")) return "text/csv; charset=UTF-8; header=absent";
  if (/^(?:Tab|TSV)/.test(format)) return "text/tab-separated-values; charset=UTF-8";
  if (/^(?:Native|RowBinary|Parquet|Arrow|ORC|Avro|Npy|MsgPack)/.test(format)) return "application/octet-stream";
  return "text/plain; charset=UTF-8";
}

function answerError(
  message: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  parts: HttpAdapterParts,
): void {
  const failure = adapterErrorOf(error);
  if (failure.clickhouseCode === 1001) parts.logger.warn({ err: error }, "a request of the embedded store failed");
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.removeHeader("X-ClickHouse-Format");
  response.removeHeader("X-ClickHouse-Summary");
  response.removeHeader("Content-Encoding");
  response.removeHeader("Content-Length");
  response.statusCode = httpStatusOf(failure.clickhouseCode);
  response.setHeader("Content-Type", "text/plain; charset=UTF-8");
  response.setHeader("X-ClickHouse-Exception-Code", failure.clickhouseCode);
  // An unread rest of a body would block the connection's next request.
  if (!message.complete) response.setHeader("Connection", "close");
  message.resume();
  response.end(renderAdapterError(failure, parts.version));
}
