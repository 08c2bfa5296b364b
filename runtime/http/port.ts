import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance, type RawServerDefault } from "fastify";
import type { Logger } from "pino";
import { createTlsServers, type PortTls } from "../tls/port-tls.ts";
import { limitConnections, type ConnectionLimit } from "./connections.ts";
import { ListenError } from "./listen-error.ts";
import { createNetworks } from "./networks.ts";
import { foreignRequest } from "./sites.ts";

/** How often the time limits of connections are checked. */
const CHECK_MILLIS = 5_000;
/** The most connections of all addresses. One takes about 20 kB of memory, and with TLS 60 kB. */
const MOST_CONNECTIONS = 2_000;
/** 500 senders behind one address, and some more. */
const MOST_PER_ADDRESS = 600;
const REPORT_MILLIS = 60_000;

/** The address of a port and the limits of its clients. */
export interface PortConfig {
  /** `host:port`; port 0 takes a free one. */
  readonly listen: string;
  /** Addresses and networks of trusted proxies, whose forwarded addresses are used; none if absent. */
  readonly trustProxy?: readonly string[];
  readonly connectionsPerAddress?: number;
}

/** The properties of a port. */
export interface PortOptions {
  readonly config: PortConfig;
  /** The key of the configuration with the address, for messages. */
  readonly key: string;
  /** TLS on the port; plain HTTP if absent. */
  readonly tls: PortTls | undefined;
  /** The time limit of a request's headers and body. An answer has no limit. */
  readonly requestMillis: number;
  readonly keepAliveMillis: number;
  readonly bodyLimitBytes: number;
  /** Returns true if the port serves everybody on this machine without credentials. */
  readonly isOpen: () => boolean | Promise<boolean>;
  /** The names of the port in browsers, if it is behind a proxy. */
  readonly names?: readonly string[];
  /** Called when a connection was ended or refused because of a limit. */
  readonly onConnectionEnded: (by: ConnectionLimit) => void;
  readonly logger: Logger;
}

/** A port that does not listen yet. */
export interface HttpPort {
  readonly server: FastifyInstance;
  /**
   * Listens. Returns `http://host:port` with the actual port; `https` with TLS. Fails with a {@link ListenError} if the port cannot listen on
   * the address.
   */
  open(): Promise<string>;
  close(): Promise<void>;
}

/**
 * Creates a port of this program. Every port is created here or guards itself in the same way: pages of other sites are refused
 * ({@link foreignRequest}), and connections are limited ({@link limitConnections}).
 */
export function createHttpPort(options: PortOptions): HttpPort {
  const { config, key, tls, requestMillis, keepAliveMillis, isOpen, names = [], onConnectionEnded, logger } = options;
  const { listen, trustProxy = [], connectionsPerAddress = MOST_PER_ADDRESS } = config;
  const tlsServers = tls === undefined ? undefined : createTlsServers(tls, logger);
  const times = { requestTimeout: requestMillis, keepAliveTimeout: keepAliveMillis };
  const http = { headersTimeout: requestMillis, connectionsCheckingInterval: CHECK_MILLIS };
  const server: FastifyInstance = Fastify<RawServerDefault>({
    logger: false,
    forceCloseConnections: true,
    trustProxy: [...trustProxy],
    bodyLimit: options.bodyLimitBytes,
    ...times,
    http,
    ...(tlsServers && {
      serverFactory: (handle) => tlsServers.create({ ...times, ...http, handshakeTimeout: requestMillis }, handle),
    }),
  });
  let reportedMillis = -Infinity;
  const limits = { inAll: MOST_CONNECTIONS, perAddress: connectionsPerAddress, isExempt: createNetworks(trustProxy) };
  limitConnections(server.server, limits, (by) => {
    onConnectionEnded(by);
    if (performance.now() - reportedMillis < REPORT_MILLIS) return;
    reportedMillis = performance.now();
    logger.warn({ listen, limit: by }, "a connection was ended because its address or the port has too many");
  });
  server.addHook("onRequest", async ({ method, headers, host }, reply) => {
    const reason = foreignRequest({ method, headers }, { listen, isOpen: await isOpen(), names: [host, ...names] });
    if (reason === undefined) return;
    logger.info({ reason, host, origin: headers.origin }, "a request was refused");
    return reply
      .code(403)
      .type("text/plain; charset=utf-8")
      .header("cache-control", "no-store")
      .send("the request is from a page of another site, or under a name that is not this server's\n");
  });

  async function close(): Promise<void> {
    await tlsServers?.stop();
    // The background work of its routes ends with it.
    await server.close();
  }

  return {
    server,
    async open() {
      const colon = listen.lastIndexOf(":");
      const host = listen.slice(0, colon).replace(/^\[|\]$/g, "");
      try {
        await server.listen({ host, port: Number(listen.slice(colon + 1)) });
      } catch (error) {
        await close();
        const why = error instanceof Error ? error.message : String(error);
        throw new ListenError(`cannot listen on ${listen} (${key}): ${why}`, { cause: error });
      }
      const { port } = server.server.address() as AddressInfo;
      const shown = host.includes(":") ? `[${host}]` : host;
      return `${tlsServers === undefined ? "http" : "https"}://${shown}:${port}`;
    },
    close,
  };
}
