import { LOOPBACK, type DemoAddress } from "../address.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { FleetNode } from "../fleet/node.ts";
import { livesAt } from "../kubernetes/cluster/lives.ts";
import { NO_PAGE, startPageServer, type PageAnswer } from "../page-server.ts";
import { enginesOf } from "./engine.ts";
import { createGatewayPages } from "./gateway.ts";
import { MODELS_OF_SERVICE } from "./models.ts";
import { vllmPage } from "./vllm.ts";

/** The path of the gateway's page. */
export const GATEWAY_PATH = "/gateway/metrics/";
/** The most engines of one pod. Each has a port of its own. */
const MOST_ENGINES = Math.max(...[...MODELS_OF_SERVICE.values()].map(({ length }) => length));

/** The running servers of the engines and the gateway of a fleet. */
export interface EngineServers {
  readonly host: string;
  /** The ports of the first engines, the second engines, and so on of all pods. The gateway is at the first one. */
  readonly ports: readonly number[];
  stop(): Promise<void>;
}

/** Returns the path of the pages of a pod's engines. */
export function enginePath(node: string, podUid: string): string {
  return `/nodes/${node}/pods/${podUid}/metrics`;
}

/** Serves the page of every engine and of the gateway of a fleet at the given address, on ports that the system selects. */
export async function startEngineServers(
  fleet: Fleet,
  now: () => number,
  address: DemoAddress = LOOPBACK,
): Promise<EngineServers> {
  const nodes = new Map(fleet.nodes.map((node) => [node.name, node]));
  const gateway = createGatewayPages(fleet);

  function answerOf(index: number, path: string): PageAnswer {
    const timeMillis = now();
    if (index === 0 && path === GATEWAY_PATH) return { status: 200, body: gateway.pageAt(timeMillis) };
    const [, , name = "", , podUid = ""] = path.split("/");
    const node = nodes.get(name);
    const isPage = node !== undefined && path === enginePath(name, podUid);
    const body = isPage ? pageOf({ fleet, node, podUid, index }, timeMillis) : undefined;
    return body === undefined ? NO_PAGE : { status: 200, body };
  }

  const servers = await Promise.all(
    Array.from({ length: MOST_ENGINES }, (_, index) => startPageServer(address, (path) => answerOf(index, path))),
  );
  return {
    host: address.host,
    ports: servers.map(({ port }) => port),
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** Returns the page of an engine; undefined if its pod does not run. */
function pageOf(
  place: { readonly fleet: Fleet; readonly node: FleetNode; readonly podUid: string; readonly index: number },
  timeMillis: number,
): Buffer | undefined {
  const { fleet, node, podUid, index } = place;
  const life = livesAt({ ...fleet, nodes: [node] }, timeMillis).find(({ uid }) => uid === podUid);
  if (life === undefined || timeMillis < life.startMillis || timeMillis >= life.endMillis) return undefined;
  const engine = enginesOf(life)[index];
  return engine === undefined ? undefined : vllmPage(engine, timeMillis);
}
