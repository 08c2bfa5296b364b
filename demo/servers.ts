import { LOOPBACK, type DemoAddress } from "./address.ts";
import { createPageBuffer } from "./exporter/page.ts";
import { createPageRenderer, type PageRenderer } from "./exporter/renderer.ts";
import type { Fleet } from "./fleet/fleet.ts";
import { collectedAt, type FleetNode } from "./fleet/node.ts";
import { isExporterAway } from "./fleet/troubles.ts";
import { NO_PAGE, startPageServer, type PageAnswer } from "./page-server.ts";

/** Up to this number of nodes, each node has its own server. More nodes share a few servers by path. */
const MOST_SERVERS = 64;
const SHARED_SERVERS = 16;

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

const AWAY: PageAnswer = { status: 503, body: Buffer.from("Service Unavailable\n") };

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

  function answerOf(exporter: Exporter | undefined): PageAnswer {
    if (exporter === undefined) return NO_PAGE;
    const timeMillis = now();
    if (isExporterAway(exporter.node, timeMillis)) return AWAY;
    return { status: 200, body: pageOf(exporter, timeMillis) };
  }

  const servers = await Promise.all(
    groups.map((group) => {
      const exporters = new Map(group.map((exporter) => [exporter.path, exporter]));
      return startPageServer(address, (path) => answerOf(exporters.get(path)));
    }),
  );
  const targets = groups.flatMap((group, i) =>
    group.map(({ node, path }) => ({ url: `http://${address.host}:${servers[i]!.port}${path}`, node: node.name })),
  );
  return {
    targets,
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}
