import type { IncomingMessage, ServerResponse } from "node:http";
import { createGzip, constants } from "node:zlib";
import type { Status } from "./status.ts";
import { createWire, type WireShape } from "./wire.ts";

/** Smaller bodies are not compressed (k8s.io/apiserver, defaultGzipThresholdBytes). */
const GZIP_FROM_BYTES = 128 * 1024;
const JSON_TYPE = "application/json";

/** Sends a JSON value. */
export async function replyJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  value: unknown,
  shape: WireShape = {},
): Promise<void> {
  response.statusCode = status;
  response.setHeader("content-type", JSON_TYPE);
  await replyText(request, response, [`${JSON.stringify(value)}\n`], shape);
}

/** Sends a Status. The time to wait is in its header too. */
export async function replyStatus(request: IncomingMessage, response: ServerResponse, status: Status): Promise<void> {
  const seconds = status.details?.["retryAfterSeconds"];
  if (typeof seconds === "number") response.setHeader("retry-after", String(seconds));
  await replyJson(request, response, status.code, status);
}

/** Sends text in pieces: with its length if it is small, else chunked, and compressed if the client accepts that. */
export async function replyText(
  request: IncomingMessage,
  response: ServerResponse,
  pieces: Iterable<string>,
  shape: WireShape = {},
): Promise<void> {
  const first: Buffer[] = [];
  let length = 0;
  const rest = pieces[Symbol.iterator]();
  let next = rest.next();
  while (next.done !== true && length < GZIP_FROM_BYTES) {
    const bytes = Buffer.from(next.value);
    first.push(bytes);
    length += bytes.length;
    next = rest.next();
  }
  const isWhole = next.done === true;
  const isShaped = shape.chunkSeed !== undefined;
  if (isWhole && length < GZIP_FROM_BYTES) {
    if (!isShaped) response.setHeader("content-length", length);
    const wire = createWire(response, shape);
    await wire.write(Buffer.concat(first));
    return wire.end();
  }
  const all = (function* () {
    yield* first;
    for (; next.done !== true; next = rest.next()) yield Buffer.from(next.value);
  })();
  const accepts = String(request.headers["accept-encoding"] ?? "");
  if (!/\bgzip\b/.test(accepts)) return pump(response, all, shape);
  response.setHeader("content-encoding", "gzip");
  return pumpCompressed(response, all, shape);
}

async function pump(response: ServerResponse, pieces: Iterable<Buffer>, shape: WireShape): Promise<void> {
  const wire = createWire(response, shape);
  for (const piece of pieces) {
    if (response.destroyed) return;
    await wire.write(piece);
  }
  await wire.end();
}

async function pumpCompressed(response: ServerResponse, pieces: Iterable<Buffer>, shape: WireShape): Promise<void> {
  const wire = createWire(response, shape);
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const feeding = (async () => {
    for (const piece of pieces) {
      if (response.destroyed) break;
      if (!gzip.write(piece)) await new Promise((resolve) => gzip.once("drain", resolve));
    }
    gzip.end();
  })();
  for await (const part of gzip as AsyncIterable<Buffer>) await wire.write(part);
  await feeding;
  await wire.end();
}
