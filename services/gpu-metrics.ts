import type { WriteGpuPage } from "./role.ts";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { constants, createGzip, type Gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { request as ask } from "undici";
import type { PageSink } from "../processors/live/gpus/exposition.ts";
import { startStatusServer, type RouteGuard, type StatusServer } from "../runtime/http/status-server.ts";
import type { OpenedTls } from "../runtime/tls/port-tls.ts";
import type { ProcessorRole } from "./role.ts";

/** The path of the joined series of GPUs. */
export const GPU_METRICS_PATH = "/metrics/gpu";

/** Any port, only for this machine. */
export const LOOPBACK = "127.0.0.1:0";

/**
 * Serves the page at the speed of its reader, compressed if the request accepts that. `cluster` names one cluster. For an unknown cluster
 * the page has no series. Any other parameter is refused with 400 and a sentence.
 */
export function addGpuMetrics(server: FastifyInstance, writePage: WriteGpuPage, logger: Logger): void {
  server.get(GPU_METRICS_PATH, async (request, reply) => {
    const asked = readQuery(request.query as Query);
    if ("wrong" in asked) return refuse(reply, 400, asked.wrong);
    const isZipped = wantsGzip(request);
    reply.hijack();
    reply.raw.writeHead(200, {
      "content-type": "text/plain; version=0.0.4; charset=utf-8",
      vary: "accept-encoding",
      ...(isZipped ? { "content-encoding": "gzip" } : {}),
    });
    await send(reply.raw, isZipped, (sink) => writePage(asked.cluster, sink)).catch((error: unknown) => {
      if (!reply.raw.destroyed)
        logger.error({ err: error, url: request.url }, "the page of GPUs was not sent completely");
      reply.raw.destroy();
    });
    return reply;
  });
}

/**
 * Serves a processor's status, its metrics and its page of GPUs. Under `up`, only for this machine, because a page of this size would block
 * IPC.
 */
export function serveProcessor(
  of: { readonly listen: string; readonly guard: RouteGuard; readonly tls?: OpenedTls | undefined },
  role: ProcessorRole,
  status: () => Promise<object>,
  logger: Logger,
): Promise<StatusServer> {
  const views = {
    status,
    metrics: () => role.registry.metrics(),
    notReady: () => [role.notReady()].filter((reason) => reason !== undefined),
    guard: of.guard,
    tls: of.tls && { ...of.tls, registry: role.registry },
    registry: role.registry,
  };
  return startStatusServer(of, views, logger, (routes) => addGpuMetrics(routes, role.writeGpuPage, logger));
}

/**
 * Serves the page of a processor in another process, at the address that it reports and with the secret of its port; 503 while it reports
 * none.
 */
export function addRemoteGpuMetrics(server: FastifyInstance, secret: string, address: () => string | undefined): void {
  server.get(GPU_METRICS_PATH, async (request, reply) => {
    const url = address();
    if (url === undefined) return refuse(reply, 503, "the processor has not reported yet");
    const { "accept-encoding": codings } = request.headers;
    const headers = {
      authorization: `Bearer ${secret}`,
      ...(codings === undefined ? {} : { "accept-encoding": codings }),
    };
    const answer = await ask(new URL(request.url, url), { headers }).catch(() => undefined);
    if (answer === undefined) return refuse(reply, 503, "the processor does not answer");
    for (const name of ["content-type", "content-encoding", "vary"]) {
      const value = answer.headers[name];
      if (value !== undefined) void reply.header(name, value);
    }
    return reply.code(answer.statusCode).send(answer.body);
  });
}

/** Creates the fastest compression. Scrapers are near and read at once. */
export function createPageGzip(): Gzip {
  return createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 64 * 1024 });
}

/** Returns a sink that finishes a chunk when the stream does. Fails with the stream. */
export function sinkTo(stream: Writable): PageSink {
  return (chunk) =>
    new Promise((resolve, reject) =>
      stream.write(chunk, (error) => (error instanceof Error ? reject(error) : resolve())),
    );
}

/** Sends everything that `write` writes as an answer, and ends it. Fails like `write`, and if the reader is gone. */
async function send(
  answer: ServerResponse,
  isZipped: boolean,
  write: (sink: PageSink) => Promise<void>,
): Promise<void> {
  const gone = once(answer, "close").then(() => {
    throw new Error("the reader has gone");
  });
  // The reader always leaves at the end. Then nothing waits for it.
  gone.catch(() => {});
  const stream = isZipped ? createPageGzip() : answer;
  if (stream !== answer) stream.pipe(answer);
  try {
    const sink = sinkTo(stream);
    await write((chunk) => Promise.race([sink(chunk), gone]));
    stream.end();
  } catch (error) {
    if (stream !== answer) stream.destroy();
    throw error;
  }
}

/** Returns true if gzip is an accepted coding with a weight above 0 (RFC 9110, 12.5.3). */
function wantsGzip({ headers }: FastifyRequest): boolean {
  const codings = String(headers["accept-encoding"] ?? "").split(",");
  return codings.some((coding) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$)[\d.]+)?\s*$/i.test(coding));
}

type Query = Readonly<Record<string, string | readonly string[]>>;

function readQuery(query: Query): { readonly cluster: string | undefined } | { readonly wrong: string } {
  const unknown = Object.keys(query).find((name) => name !== "cluster");
  if (unknown !== undefined) {
    return {
      wrong: `the parameter ${JSON.stringify(unknown)} is not known: ${GPU_METRICS_PATH} has only the parameter cluster`,
    };
  }
  const { cluster } = query;
  if (cluster === undefined || typeof cluster === "string") return { cluster };
  return { wrong: "cluster is given more than once: give the name of one cluster, or omit the parameter for all" };
}

function refuse(reply: FastifyReply, status: number, why: string): FastifyReply {
  return reply.code(status).type("text/plain; charset=utf-8").send(`${why}\n`);
}
