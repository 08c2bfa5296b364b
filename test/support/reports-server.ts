import Fastify, { type FastifyInstance, type LightMyRequestResponse } from "fastify";
import { pino } from "pino";
import { OPEN, type Viewer } from "../../reports/access/viewer.ts";
import { addReports, type ReportsOptions } from "../../reports/routes.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** The reports' server over a store, without a port; whoever a test is asks it. */
export interface ReportsServer {
  readonly fastify: FastifyInstance;
  /** What everything is asked at, milliseconds since the epoch. */
  now: number;
  /** Who asks over the network. */
  viewer: Viewer;
  /** Asks for an address as somebody. */
  get(url: string, as?: Viewer, headers?: Readonly<Record<string, string>>): Promise<LightMyRequestResponse>;
  close(): Promise<void>;
}

/** Finance, and the viewer of the team vision. */
export const FINANCE: Viewer = { name: "finance", role: "finance", teams: "all" };
export const VISION: Viewer = { name: "vision's", role: "viewer", teams: ["vision"] };

/** Makes it, with the ledger of a configuration in YAML. */
export async function createReportsServer(
  store: StoreClient,
  now: number,
  config: string,
  more: Pick<ReportsOptions, "requestsPerMinute" | "hoursWaiting"> = {},
): Promise<ReportsServer> {
  const fastify = Fastify();
  const server: ReportsServer = {
    fastify,
    now,
    viewer: OPEN,
    get(url, as = FINANCE, headers = {}) {
      server.viewer = as;
      return fastify.inject({ url, headers });
    },
    close: () => fastify.close(),
  };
  const parsed = parseConfig(config, { source: "the test", folder: ".", env: {} });
  await addReports(fastify, {
    store,
    ledger: ledgerOf(parsed),
    focus: parsed.focus,
    deliveries: parsed.deliveries,
    rules: "",
    access: { mode: "open", authenticate: () => Promise.resolve(server.viewer) },
    logger: pino({ level: "silent" }),
    version: "0.0.0",
    isDemo: false,
    now: () => server.now,
    ...more,
  });
  await fastify.ready();
  return server;
}
