import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { PageError } from "./page-error.ts";
import { createResponseParser, type ResponseHead, type ResponseParser } from "./response-parser.ts";

/** The TLS settings for a job's targets. Certificates are PEM texts, not paths. */
export interface TlsOptions {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
}

/** A request and the receiver of its response. */
export interface Exchange {
  /** The request's bytes as text, with its empty line. */
  readonly request: string;
  readonly onHead: (head: ResponseHead) => void;
  /** Gets a view that is valid only during the call. */
  readonly onBody: (bytes: Buffer) => void;
}

/** The persistent connection of an origin. It sends one request after the other. */
export interface PageConnection {
  /** Resolves when the response is complete. After an abort it rejects with the signal's reason and closes the connection. */
  exchange(exchange: Exchange, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** One persistent connection per origin. */
export interface Connections {
  /** Returns the connection of an origin. It is opened at the first request. */
  of(origin: string): PageConnection;
  /** Returns a connection of its own. The caller closes it. */
  once(origin: string): PageConnection;
  /** Closes the connection of an origin. */
  drop(origin: string): void;
  /** Closes every connection. */
  close(): void;
}

/** An exchange failed because the persistent connection had been closed in the meantime. The request can be sent again. */
export class StaleConnectionError extends Error {}

const RECEIVE_BYTES = 256 * 1024;

/**
 * Creates connections that are kept between scrapes. Nothing is opened before the first request. All of them receive into one buffer, whose
 * bytes are processed before the next read, so a page costs no allocation. Node's default is a new 64 kB buffer for each read, which made
 * garbage collection two thirds of the collector's CPU.
 */
export function createConnections({ tls }: { readonly tls: TlsOptions | undefined }): Connections {
  const connections = new Map<string, PageConnection>();
  const received = Buffer.allocUnsafeSlow(RECEIVE_BYTES);
  return {
    of(origin) {
      let connection = connections.get(origin);
      if (connection === undefined) {
        connections.set(origin, (connection = createPageConnection(new URL(origin), tls, received)));
      }
      return connection;
    },
    once: (origin) => createPageConnection(new URL(origin), tls, received),
    drop(origin) {
      connections.get(origin)?.close();
      connections.delete(origin);
    },
    close() {
      for (const connection of connections.values()) connection.close();
      connections.clear();
    },
  };
}

interface UnderWay {
  readonly parser: ResponseParser;
  readonly reused: boolean;
  readonly settle: (error?: Error) => void;
}

function createPageConnection(origin: URL, tls: TlsOptions | undefined, received: Buffer): PageConnection {
  let socket: Socket | undefined;
  let underWay: UnderWay | undefined;
  let last: Promise<void> = Promise.resolve();

  function take(bytes: Buffer): void {
    if (underWay === undefined) {
      // Bytes without a request.
      letGo();
      return;
    }
    const { parser, settle } = underWay;
    try {
      if (!parser.feed(bytes)) return;
      if (!parser.reusable) letGo();
      settle();
    } catch (error) {
      letGo();
      settle(error as Error);
    }
  }

  function ended(ending: Socket): void {
    if (ending !== socket) return;
    letGo();
    if (underWay === undefined) return;
    const { parser, reused, settle } = underWay;
    if (parser.end()) settle();
    else if (reused && !parser.begun) settle(new StaleConnectionError());
    else settle(new PageError("interrupted", "the connection ended before the answer did"));
  }

  function fail(failing: Socket, error: Error): void {
    if (failing !== socket) return;
    letGo();
    if (underWay === undefined) return;
    const { parser, reused, settle } = underWay;
    settle(reused && !parser.begun ? new StaleConnectionError() : error);
  }

  function letGo(): void {
    socket?.destroy();
    socket = undefined;
  }

  function start({ request, onHead, onBody }: Exchange, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        letGo();
        settle(signal.reason as Error);
      };
      const settle = (error?: Error): void => {
        underWay = undefined;
        signal.removeEventListener("abort", abort);
        if (error === undefined) resolve();
        else reject(error);
      };
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      signal.addEventListener("abort", abort);
      const reused = socket !== undefined;
      socket ??= openSocket(origin, tls, received, { take, fail, ended });
      underWay = { parser: createResponseParser(onHead, onBody), reused, settle };
      socket.write(request, "latin1");
    });
  }

  return {
    exchange(exchange, signal) {
      const turn = last.then(() => start(exchange, signal));
      last = turn.catch(() => {});
      return turn;
    },
    close() {
      letGo();
      underWay?.settle(new PageError("interrupted", "the collector no longer scrapes this target"));
    },
  };
}

interface SocketEvents {
  take(bytes: Buffer): void;
  fail(socket: Socket, error: Error): void;
  ended(socket: Socket): void;
}

function openSocket(origin: URL, tls: TlsOptions | undefined, received: Buffer, on: SocketEvents): Socket {
  const host = origin.hostname.replace(/^\[|\]$/g, "");
  const port = Number(origin.port) || (origin.protocol === "https:" ? 443 : 80);
  const onread = {
    buffer: received,
    callback: (length: number): boolean => {
      on.take(received.subarray(0, length));
      return true;
    },
  };
  // `onread` works for TLS as for plain sockets (documentation of tls.connect), but the types omit it.
  const options = { host, port, onread };
  const opened =
    origin.protocol === "https:" ? connectTls({ ...options, ...tlsOptions(host, tls) }) : connectPlain(options);
  opened.setNoDelay(true);
  opened.on("error", (error: Error) => on.fail(opened, error));
  opened.on("end", () => on.ended(opened));
  opened.on("close", () => on.ended(opened));
  return opened;
}

function tlsOptions(host: string, tls: TlsOptions | undefined): ConnectionOptions {
  const { ca, cert, key, serverName, insecureSkipVerify } = tls ?? {};
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    rejectUnauthorized: insecureSkipVerify !== true,
    servername: serverName ?? (isIP(host) === 0 ? host : ""),
    ALPNProtocols: ["http/1.1"],
  };
}
