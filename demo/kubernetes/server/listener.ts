import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { foreignRequest } from "../../../runtime/http/sites.ts";

/** A port that can close and open again. */
export interface Listener {
  readonly port: number;
  /** Opens the port; the same one as before, if there was one. */
  open(): Promise<void>;
  /** Closes the port and cuts every connection at once. */
  close(): Promise<void>;
}

/** Creates a closed listener on an address. It passes requests on, except those of other sites ({@link foreignRequest}). */
export function createListener(
  address: string,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Listener {
  const sockets = new Set<Socket>();
  let port = 0;
  let server: Server | undefined;
  return {
    get port() {
      return port;
    },
    async open() {
      if (server !== undefined) return;
      const opening = createServer({ keepAliveTimeout: 300_000, requestTimeout: 0 }, (request, response) => {
        const isForeign = foreignRequest(request, { listen: address, isOpen: true }) !== undefined;
        if (isForeign) response.writeHead(403).end();
        else handle(request, response);
      });
      opening.on("connection", (socket) => {
        sockets.add(socket);
        socket.setNoDelay(true);
        socket.on("close", () => sockets.delete(socket));
      });
      await new Promise<void>((resolve, reject) => {
        opening.once("error", reject);
        opening.listen(port, address, resolve);
      });
      server = opening;
      port = (opening.address() as AddressInfo).port;
    },
    async close() {
      const closing = server;
      server = undefined;
      if (closing === undefined) return;
      const closed = new Promise<void>((resolve) => closing.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
