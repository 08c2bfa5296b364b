import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { demandMetricsToken } from "./metrics-token.ts";

/** What the server shows; each is asked when a request comes. */
export interface ServerViews {
  /** Everything `/api/status` says. */
  readonly status: () => Promise<object>;
  /** Prometheus exposition of the program's own metrics. */
  readonly metrics: () => Promise<string>;
  /** Why the program cannot do its work now, a sentence each; empty while it can. */
  readonly notReady: () => readonly string[];
  /** The demo fleet's exporters, where there is one. */
  readonly demoTargets?: () => readonly { readonly url: string; readonly node: string }[];
  /** What has to be given to see the metrics, those of added routes below `/metrics` too; undefined for nothing. */
  readonly metricsToken: string | undefined;
  /** Addresses and networks of proxies that are believed for whom they ask; nobody where it is absent. */
  readonly trustProxy?: readonly string[];
}

/** A listening server. */
export interface StatusServer {
  /** `http://host:port` with the port that was taken. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The address cannot be listened on: another program does, or it is none of this machine. The message says it all. */
export class ListenError extends Error {
  readonly code = "cannot-listen";
  readonly retriable = false;

  constructor(message: string, options: { readonly cause: unknown }) {
    super(message, options);
    this.name = "ListenError";
  }
}

/**
 * Serves `/healthz` (the process runs), `/readyz` (it does its work, or says why not), `/metrics` and `/api/status`, and
 * what `addRoutes` adds. Fails with a {@link ListenError} where the address cannot be listened on.
 */
export async function startStatusServer(
  listen: string,
  views: ServerViews,
  logger: Logger,
  addRoutes?: (server: FastifyInstance) => void,
): Promise<StatusServer> {
  const server: FastifyInstance = Fastify({
    logger: false,
    forceCloseConnections: true,
    trustProxy: [...(views.trustProxy ?? [])],
  });
  demandMetricsToken(server, views.metricsToken);
  server.get("/healthz", () => "ok\n");
  server.get("/readyz", (_, reply) => {
    const reasons = views.notReady();
    return reasons.length === 0 ? "ready\n" : reply.code(503).send(`${reasons.join("\n")}\n`);
  });
  server.get("/metrics", async (_, reply) => {
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(await views.metrics());
  });
  server.get("/api/status", () => views.status());
  // Prometheus' HTTP service discovery, so that a Prometheus can scrape the demo fleet too.
  server.get("/api/demo/targets", () =>
    (views.demoTargets?.() ?? []).map(({ url, node }) => {
      const { protocol, host, pathname } = new URL(url);
      return { targets: [host], labels: { __scheme__: protocol.slice(0, -1), __metrics_path__: pathname, node } };
    }),
  );
  addRoutes?.(server);
  server.setErrorHandler((error, request, reply) => {
    logger.error({ err: error, url: request.url }, "a request failed");
    return reply.code(500).send({ error: "internal error; see the log" });
  });
  const { host, port } = splitAddress(listen);
  try {
    await server.listen({ host, port });
  } catch (error) {
    // What its routes do in the background ends with it.
    await server.close();
    const why = error instanceof Error ? error.message : String(error);
    throw new ListenError(`cannot listen on ${listen} (server.listen): ${why}`, { cause: error });
  }
  const { port: taken } = server.server.address() as AddressInfo;
  const shown = host.includes(":") ? `[${host}]` : host;
  return { url: `http://${shown}:${taken}`, stop: () => server.close() };
}

function splitAddress(listen: string): { host: string; port: number } {
  const colon = listen.lastIndexOf(":");
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(listen.slice(colon + 1)) };
}
