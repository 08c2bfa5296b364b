import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isForeignHost } from "../runtime/http/loopback.ts";
import { LOOPBACK, type DemoAddress } from "./address.ts";
import { createPageBuffer } from "./exporter/page.ts";
import { createPageRenderer, type PageRenderer } from "./exporter/renderer.ts";
import type { Fleet } from "./fleet/fleet.ts";
import { collectedAt, type FleetNode } from "./fleet/node.ts";
import { isExporterAway } from "./fleet/troubles.ts";

/** Up to this number of nodes, each node has its own server. More nodes share a few servers by path. */
const MOST_SERVERS = 64;
const SHARED_SERVERS = 16;
/** Longer than usual scrape intervals, so that a connection stays open between two scrapes. */
const KEEP_ALIVE_MILLIS = 300_000;

/** The address of a node's page. */
export interface ExporterTarget {
  readonly url: string;
  readonly node: string;
}

/** The running exporters of a fleet. */
export interface ExporterServers {
  readonly targets: readonly ExporterTarget[];
  stop(): Promise<void>;
}

interface Exporter {
  readonly node: FleetNode;
  readonly path: string;
  renderer?: PageRenderer;
  /** The last page. A scrape within the exporter's own interval gets it again. */
  last?: { readonly collectedAt: number; readonly page: Buffer };
}

/** Serves the pages of every node of a fleet at the given address, on ports that the system selects. */
export async function startExporterServers(
  fleet: Fleet,
  now: () => number,
  address: DemoAddress = LOOPBACK,
): Promise<ExporterServers> {
  const isShared = fleet.nodes.length > MOST_SERVERS;
  const buffer = createPageBuffer();
  const groups: Exporter[][] = [];
  fleet.nodes.forEach((node, i) => {
    const path = isShared ? `/nodes/${node.name}/metrics` : "/metrics";
    (groups[isShared ? i % SHARED_SERVERS : i] ??= []).push({ node, path });
  });

  function pageOf(exporter: Exporter, timeMillis: number): Buffer {
    const collected = collectedAt(exporter.node, timeMillis);
    if (exporter.last?.collectedAt !== collected) {
      exporter.renderer ??= createPageRenderer(exporter.node);
      exporter.last = { collectedAt: collected, page: Buffer.from(exporter.renderer.render(collected, buffer)) };
    }
    return exporter.last.page;
  }

  function answer(exporters: ReadonlyMap<string, Exporter>, request: IncomingMessage, response: ServerResponse): void {
    const exporter = exporters.get((request.url ?? "").split("?")[0]!);
    if (exporter === undefined) return send(response, 404, Buffer.from("404 page not found\n"));
    const timeMillis = now();
    if (isExporterAway(exporter.node, timeMillis)) {
      return send(response, 503, Buffer.from("Service Unavailable\n"));
    }
    send(response, 200, pageOf(exporter, timeMillis));
  }

  const servers = await Promise.all(
    groups.map((group) => {
      const exporters = new Map(group.map((exporter) => [exporter.path, exporter]));
      return listen(address.listen, (request, response) =>
        isForeignHost(address.listen, request.headers.host)
          ? send(response, 403, Buffer.from("Forbidden\n"))
          : answer(exporters, request, response),
      );
    }),
  );
  const targets = groups.flatMap((group, i) =>
    group.map(({ node, path }) => ({ url: `http://${address.host}:${portOf(servers[i]!)}${path}`, node: node.name })),
  );
  return {
    targets,
    async stop() {
      await Promise.all(servers.map((server) => close(server)));
    },
  };
}

function send(response: ServerResponse, status: number, body: Buffer): void {
  response.writeHead(status, {
    "content-type": "text/plain; version=0.0.4; charset=utf-8",
    "content-length": body.length,
  });
  response.end(body);
}

function listen(
  address: string,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MILLIS }, listener);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, address, () => resolve(server));
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
