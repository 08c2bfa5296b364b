import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type RawServerDefault } from "fastify";
import type { Logger } from "pino";
import { createTlsServers, type PortTls } from "../tls/port-tls.ts";
import { ListenError } from "./listen-error.ts";

/** The time limit of a request's headers and body. An answer has no limit. */
const REQUEST_MILLIS = 10_000;
/** How often the time limits of connections are checked. */
const CHECK_MILLIS = 5_000;
/** Longer than the scrape interval of a Prometheus, so that its connection stays. */
const KEEP_ALIVE_MILLIS = 75_000;
/** Further connections are closed at once. */
const MOST_CONNECTIONS = 1_000;
/** The only body is the form of the login. */
const MOST_BODY_BYTES = 16_384;
const TEXT = "text/plain; charset=utf-8";

/** The content of the server. Each function is called for a request. */
export interface ServerViews {
  /** Returns the body of `/api/status`. */
  readonly status: () => Promise<object>;
  /** Returns the Prometheus exposition of the program's own metrics. */
  readonly metrics: () => Promise<string>;
  /** Returns the reasons why the program cannot work now, a sentence each; empty if it can. */
  readonly notReady: () => readonly string[];
  /** Returns the demo fleet's exporters, if there is a demo fleet. */
  readonly demoTargets?: () => readonly { readonly url: string; readonly node: string }[];
  readonly guard: RouteGuard;
  /** Addresses and networks of trusted proxies, whose forwarded addresses are used; none if absent. */
  readonly trustProxy?: readonly string[];
  /** TLS on the port; plain HTTP if absent. */
  readonly tls?: PortTls | undefined;
}

/** The access control of the server's routes. */
export interface RouteGuard {
  /** Guards every route that is added afterwards. */
  readonly guardRoutes: (server: FastifyInstance) => void;
  /** Returns true if a request may see the reasons why the program is not ready. */
  readonly isOperator: (request: FastifyRequest) => Promise<boolean>;
}

/** A listening server. */
export interface StatusServer {
  /** `http://host:port` with the actual port; `https` with TLS. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves `/healthz` (the process runs), `/readyz` (it works, or the reasons why not), `/metrics` and `/api/status`, and the routes of
 * `addRoutes`. Fails with a {@link ListenError} if the server cannot listen on the address.
 */
export async function startStatusServer(
  listen: string,
  views: ServerViews,
  logger: Logger,
  addRoutes?: (server: FastifyInstance) => void,
): Promise<StatusServer> {
  const tlsServers = views.tls === undefined ? undefined : createTlsServers(views.tls, logger);
  const times = { requestTimeout: REQUEST_MILLIS, keepAliveTimeout: KEEP_ALIVE_MILLIS };
  const http = { headersTimeout: REQUEST_MILLIS, connectionsCheckingInterval: CHECK_MILLIS };
  const server: FastifyInstance = Fastify<RawServerDefault>({
    logger: false,
    forceCloseConnections: true,
    trustProxy: [...(views.trustProxy ?? [])],
    ...times,
    bodyLimit: MOST_BODY_BYTES,
    http,
    ...(tlsServers === undefined
      ? {}
      : {
          serverFactory: (handle) => tlsServers.create({ ...times, ...http, handshakeTimeout: REQUEST_MILLIS }, handle),
        }),
  });
  async function stop(): Promise<void> {
    await tlsServers?.stop();
    // The background work of its routes ends with it.
    await server.close();
  }
  server.server.maxConnections = MOST_CONNECTIONS;
  server.addHook("onRequest", endWithConnection);
  server.addHook("onSend", forbidStoring);
  views.guard.guardRoutes(server);
  server.get("/healthz", () => "ok\n");
  server.get("/readyz", async (request, reply) => {
    const reasons = views.notReady();
    if (reasons.length === 0) return "ready\n";
    const shown = (await views.guard.isOperator(request)) ? reasons : ["not ready"];
    return reply.code(503).send(`${shown.join("\n")}\n`);
  });
  server.get("/metrics", async (_, reply) => {
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(await views.metrics());
  });
  server.get("/api/status", () => views.status());
  const { demoTargets } = views;
  if (demoTargets !== undefined) {
    // Prometheus' HTTP service discovery, so that a Prometheus can scrape the demo fleet too.
    server.get("/api/demo/targets", () =>
      demoTargets().map(({ url, node }) => {
        const { protocol, host, pathname } = new URL(url);
        return { targets: [host], labels: { __scheme__: protocol.slice(0, -1), __metrics_path__: pathname, node } };
      }),
    );
  }
  addRoutes?.(server);
  server.setErrorHandler((error: Error & { readonly statusCode?: number }, request, reply) => {
    const { statusCode = 500, message } = error;
    if (statusCode === 401) void reply.header("www-authenticate", 'Bearer realm="gpu-ledger"');
    if (statusCode < 500 || statusCode === 503) return reply.code(statusCode).type(TEXT).send(`${message}\n`);
    logger.error({ err: error, url: request.url }, "a request failed");
    return reply.code(500).type(TEXT).send("internal error; see the log\n");
  });
  const { host, port } = splitAddress(listen);
  try {
    await server.listen({ host, port });
  } catch (error) {
    await stop();
    const why = error instanceof Error ? error.message : String(error);
    throw new ListenError(`cannot listen on ${listen} (server.listen): ${why}`, { cause: error });
  }
  const { port: taken } = server.server.address() as AddressInfo;
  const shown = host.includes(":") ? `[${host}]` : host;
  return { url: `${tlsServers === undefined ? "http" : "https"}://${shown}:${taken}`, stop };
}

/**
 * Ends an answer when its connection ends. Node ends only the answer that is being sent. Those of further requests, which the client has sent
 * without waiting, would be made for nobody.
 */
async function endWithConnection({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply): Promise<void> {
  const end = (): void => {
    if (raw.destroyed) return;
    raw.destroy();
    raw.emit("close");
  };
  // A client can send any number of requests at once.
  socket.setMaxListeners(0).once("close", end);
  raw.once("close", () => socket.off("close", end));
}

/** Forbids the storing of an answer without a rule of its own, because it can have figures or cookies. */
async function forbidStoring(_: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!reply.hasHeader("cache-control")) void reply.header("cache-control", "no-store");
}

function splitAddress(listen: string): { host: string; port: number } {
  const colon = listen.lastIndexOf(":");
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(listen.slice(colon + 1)) };
}
