import { Client } from "undici";

/** How a job's targets are spoken to; PEM texts, not paths. */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
  readonly insecureSkipVerify?: boolean;
}

/** One kept connection per origin. */
export interface Connections {
  /** The client of an origin, made when first asked for. */
  of(origin: string): Client;
  /** Lets go of an origin's connection. */
  drop(origin: string): void;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Connections that outlive a scrape interval of `intervalMillis`; nothing is opened before the first request. */
export function createConnections(options: {
  readonly tls: TlsOptions | undefined;
  readonly timeoutMillis: number;
  readonly intervalMillis: number;
}): Connections {
  const { tls, timeoutMillis, intervalMillis } = options;
  const clients = new Map<string, Client>();
  const connect = {
    timeout: timeoutMillis,
    ...(tls?.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls?.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls?.key === undefined ? {} : { key: tls.key }),
    ...(tls?.serverName === undefined ? {} : { servername: tls.serverName }),
    ...(tls?.insecureSkipVerify === true ? { rejectUnauthorized: false } : {}),
  };
  return {
    of(origin) {
      let client = clients.get(origin);
      if (client === undefined) {
        // The scrape has one deadline of its own, over connecting, headers and body together.
        client = new Client(origin, {
          connect,
          headersTimeout: 0,
          bodyTimeout: 0,
          keepAliveTimeout: intervalMillis * 2 + 10_000,
          keepAliveMaxTimeout: intervalMillis * 2 + 600_000,
        });
        clients.set(origin, client);
      }
      return client;
    },
    drop(origin) {
      void clients.get(origin)?.destroy();
      clients.delete(origin);
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.destroy()));
      clients.clear();
    },
  };
}
