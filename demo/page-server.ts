import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { foreignRequest } from "../runtime/http/sites.ts";
import type { DemoAddress } from "./address.ts";

/** Longer than usual scrape intervals, so that a connection stays open between two scrapes. */
const KEEP_ALIVE_MILLIS = 300_000;

/** The response to a request for a page. */
export interface PageAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** The response for a path without a page. */
export const NO_PAGE: PageAnswer = { status: 404, body: Buffer.from("404 page not found\n") };

const FOREIGN: PageAnswer = { status: 403, body: Buffer.from("Forbidden\n") };

/** A running server of pages in Prometheus' text format. */
export interface PageServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Serves pages by their path at an address, on a port that the system selects. */
export async function startPageServer(
  address: DemoAddress,
  answerOf: (path: string) => PageAnswer,
): Promise<PageServer> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MILLIS }, (request, response) => {
    const isForeign = foreignRequest(request, { listen: address.listen, isOpen: true }) !== undefined;
    send(response, isForeign ? FOREIGN : answerOf((request.url ?? "").split("?")[0]!));
  });
  await listen(server, address.listen);
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, { status, body }: PageAnswer): void {
  response.writeHead(status, {
    "content-type": "text/plain; version=0.0.4; charset=utf-8",
    "content-length": body.length,
  });
  response.end(body);
}

function listen(server: Server, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, address, () => resolve());
  });
}
