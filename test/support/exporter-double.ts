import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";

/** The double's answer to a request. A page counts as served only if it was sent completely. */
export type Behavior = (request: IncomingMessage, response: ServerResponse, double: ExporterDouble) => void;

/** An exporter that can misbehave, and that keeps every page that it served completely. */
export interface ExporterDouble {
  readonly url: string;
  /** Pages that were written to their last byte, in order. */
  readonly served: string[];
  readonly requests: IncomingMessage[];
  /** The number of open connections. */
  readonly connections: number;
  behave(behavior: Behavior): void;
  /** Answers with a page and its length. */
  page(response: ServerResponse, text: string): void;
  close(): Promise<void>;
}

/** Starts a double on a free port of 127.0.0.1; with `tls` it serves https. */
export async function startExporterDouble(
  behavior: Behavior,
  tls?: { readonly key: string; readonly cert: string; readonly ca?: string; readonly requestCert?: boolean },
): Promise<ExporterDouble> {
  let current = behavior;
  const sockets = new Set<Socket>();
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    double.requests.push(request);
    current(request, response, double);
  };
  const server: Server =
    tls === undefined
      ? createServer(listener)
      : createTlsServer({ ...tls, rejectUnauthorized: tls.requestCert === true }, listener);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const double: ExporterDouble = {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}/metrics`,
    served: [],
    requests: [],
    get connections() {
      return sockets.size;
    },
    behave(next) {
      current = next;
    },
    page(response, text) {
      response.setHeader("content-type", "text/plain; version=0.0.4");
      response.setHeader("content-length", Buffer.byteLength(text));
      response.end(text, () => double.served.push(text));
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return double;
}
