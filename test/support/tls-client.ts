import { once } from "node:events";
import { Agent, request, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { connect, type ConnectionOptions, type PeerCertificate, type TLSSocket } from "node:tls";

/** The answer to a request over TLS. */
export interface TlsAnswer {
  readonly status: number;
  readonly body: string;
  readonly cookies: readonly string[];
  /** The server's certificate. */
  readonly certificate: PeerCertificate;
  readonly protocol: string | null;
  /** The cipher suite, by its name in the registry of IANA. */
  readonly suite: string;
  readonly isResumed: boolean;
  /** The client's port, by which connections differ. */
  readonly port: number | undefined;
}

/** Sends a request over TLS, by default on a connection of its own. Fails with the error of the connection. */
export async function askTls(url: string, options: RequestOptions, body = ""): Promise<TlsAnswer> {
  const agent = options.agent ?? new Agent({ maxCachedSessions: 0 });
  const asking = request(url, { ...options, agent });
  asking.end(body);
  try {
    const [response] = (await once(asking, "response")) as [IncomingMessage];
    const socket = response.socket as TLSSocket;
    const shown = {
      certificate: socket.getPeerCertificate(),
      protocol: socket.getProtocol(),
      suite: socket.getCipher().standardName,
      isResumed: socket.isSessionReused(),
      port: socket.localPort,
    };
    return {
      status: response.statusCode!,
      body: await text(response),
      cookies: response.headers["set-cookie"] ?? [],
      ...shown,
    };
  } finally {
    if (options.agent === undefined) (agent as Agent).destroy();
  }
}

/** The alert of TLS or the error code of a failed request, or `status` and the answer's status. */
export async function outcomeOf(asked: Promise<TlsAnswer>): Promise<string> {
  return asked.then(({ status }) => `status ${status}`, reasonOf);
}

/**
 * The alert of TLS or the error code with which a server ends a connection. The client sends no request: unread bytes would let the system drop the
 * alert.
 */
export async function endOf(url: string, options: ConnectionOptions): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), ...options }).resume();
  const [error] = (await once(socket, "error").catch((thrown: unknown) => [thrown])) as [Error];
  return reasonOf(error);
}

function reasonOf(error: NodeJS.ErrnoException): string {
  return /alert [a-z ]+/.exec(error.message)?.[0] ?? error.code ?? error.message;
}
