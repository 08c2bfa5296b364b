import { createServer, type Server, type ServerOptions } from "node:https";
import type { RequestListener } from "node:http";
import type { TLSSocket } from "node:tls";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { ServerTls } from "../config/server-tls.ts";
import { repeat } from "../lifecycle/repeat.ts";
import { createPortMetrics } from "../telemetry/metrics.ts";
import { clientAuthOptions, clientRefusal } from "./client-auth.ts";
import { createReread } from "./reread.ts";
import { readTlsFiles, usableFiles, type UsableFiles } from "./tls-files.ts";

/** How often the files are read again. */
const REREAD_MILLIS = 5_000;

/** The TLS of a port: its settings, and its files at the start. */
export interface OpenedTls {
  readonly settings: ServerTls;
  readonly usable: UsableFiles;
}

/** The TLS of a port, and the registry of its metrics. */
export interface PortTls extends OpenedTls {
  readonly registry: Registry;
  /** How often the files are read again. Default: every 5 s. */
  readonly rereadMillis?: number;
}

/** Reads the files of the settings. Fails with a `TlsError` if they cannot be served. */
export async function openTls(settings: ServerTls): Promise<OpenedTls> {
  return { settings, usable: usableFiles(settings, await readTlsFiles(settings)) };
}

/** Servers with TLS whose certificates follow their files. */
export interface TlsServers {
  /** Creates a server that does not listen yet. */
  create(options: ServerOptions, handle: RequestListener): Server;
  /** Reads the files no longer. */
  stop(): Promise<void>;
}

/**
 * Creates servers with TLS. A changed certificate, key or CA is valid for new connections; open connections stay as they are. Changed files
 * that cannot be served are logged once and counted, and the old ones stay.
 */
export function createTlsServers({ settings, usable, registry, rereadMillis }: PortTls, logger: Logger): TlsServers {
  const metrics = createPortMetrics(registry);
  const servers: Server[] = [];
  let { context } = usable;

  function show({ expiresMillis, subjectAltName }: UsableFiles): void {
    metrics.tlsExpiry.set(expiresMillis / 1_000);
    const shown = { names: subjectAltName, expires: new Date(expiresMillis).toISOString() };
    if (expiresMillis < Date.now()) logger.warn(shown, "the TLS certificate has expired: clients refuse it");
    else logger.info(shown, "serving a TLS certificate");
  }

  show(usable);
  const reread = createReread(settings, usable, {
    changed(changed) {
      ({ context } = changed);
      for (const server of servers) server.setSecureContext(context);
      show(changed);
    },
    failed(error, isNew) {
      metrics.tlsReloadFailures.inc();
      if (isNew) logger.error({ err: error }, "the changed TLS files cannot be served: the old ones stay");
    },
    recovered: () => logger.info("the TLS files are the served ones again"),
  });
  const rereading = repeat(rereadMillis ?? REREAD_MILLIS, reread, (error) =>
    logger.error({ err: error }, "the TLS files cannot be read again"),
  );

  return {
    create(options, handle) {
      const server = createServer({ ...options, ...context, ...clientAuthOptions(settings) }, handle);
      // Before the server reads the first request of the connection.
      server.prependListener("secureConnection", (socket: TLSSocket) => {
        const reason = clientRefusal(settings, socket);
        if (reason === undefined) return;
        logger.info({ reason, address: socket.remoteAddress }, "a TLS client was refused");
        socket.destroy();
      });
      server.on("tlsClientError", ({ code }: NodeJS.ErrnoException, socket) => {
        // Set, with ECONNRESET, if Node has refused the client's certificate. Other clients leave, such as probes of a TCP port.
        const refused = socket.authorizationError as Error | string | undefined | null;
        const reason = refused ?? (code === "ECONNRESET" ? undefined : code);
        if (reason !== undefined) logger.info({ reason, address: socket.remoteAddress }, "a TLS client was refused");
      });
      servers.push(server);
      return server;
    },
    stop: () => rereading.stop(),
  };
}
