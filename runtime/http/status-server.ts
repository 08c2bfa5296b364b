import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { createPortMetrics } from "../telemetry/metrics.ts";
import type { PortTls } from "../tls/port-tls.ts";
import { createHttpPort, type PortConfig } from "./port.ts";

/** The time limit of a request's headers and body. An answer has no limit. */
const REQUEST_MILLIS = 10_000;
/** Longer than the scrape interval of a Prometheus, so that its connection stays. */
const KEEP_ALIVE_MILLIS = 75_000;
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
  /** TLS on the port; plain HTTP if absent. */
  readonly tls?: PortTls | undefined;
  /** The registry of the port's metrics. */
  readonly registry?: Registry;
}

/** The access control of the server's routes. */
export interface RouteGuard {
  /** Guards every route that is added afterwards. */
  readonly guardRoutes: (server: FastifyInstance) => void;
  /** Returns true if a request may see the reasons why the program is not ready. */
  readonly isOperator: (request: FastifyRequest) => Promise<boolean>;
  /** Returns true, the default, if the server serves everybody on this machine without credentials. */
  readonly isOpen?: () => Promise<boolean>;
  /** The names of the server in browsers, if it is behind a proxy. */
  readonly names?: readonly string[];
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
  config: PortConfig,
  views: ServerViews,
  logger: Logger,
  addRoutes?: (server: FastifyInstance) => void,
): Promise<StatusServer> {
  const metrics = createPortMetrics(views.registry ?? new Registry());
  const port = createHttpPort({
    config,
    key: "server.listen",
    tls: views.tls,
    requestMillis: REQUEST_MILLIS,
    keepAliveMillis: KEEP_ALIVE_MILLIS,
    bodyLimitBytes: MOST_BODY_BYTES,
    isOpen: views.guard.isOpen ?? (() => true),
    names: views.guard.names ?? [],
    onConnectionEnded: (limit) => metrics.connectionsEnded.inc({ limit }),
    logger,
  });
  const { server } = port;
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
  return { url: await port.open(), stop: port.close };
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
