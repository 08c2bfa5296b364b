import Fastify, { type FastifyInstance, type LightMyRequestResponse } from "fastify";
import { pino } from "pino";
import { OPEN, type Viewer } from "../../reports/access/viewer.ts";
import { addReports, type ReportsOptions } from "../../reports/routes.ts";
import { demandRole } from "../../reports/server/access.ts";
import { guardRoutes } from "../../reports/server/guard.ts";
import { portOf } from "../../reports/server/route-table.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { createClosing } from "../../services/closing.ts";
import { NO_METRICS } from "../../domain/training/metrics.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** The reports' server with a store, without a port. Tests send it requests as a viewer of their choice. */
export interface ReportsServer {
  readonly fastify: FastifyInstance;
  /** The time of every request, in milliseconds since the epoch. */
  now: number;
  /** The viewer of requests over the network. The header `x-viewer` gives the viewer another name. */
  viewer: Viewer;
  /** Requests an address as a viewer. */
  get(url: string, as?: Viewer, headers?: Readonly<Record<string, string>>): Promise<LightMyRequestResponse>;
  /** Sends a form as a viewer. */
  post(url: string, form: Readonly<Record<string, string>>, as?: Viewer): Promise<LightMyRequestResponse>;
  close(): Promise<void>;
}

/** Finance, and the viewer of the team vision. */
export const FINANCE: Viewer = { name: "finance", role: "finance", teams: "all" };
export const VISION: Viewer = { name: "vision's", role: "viewer", teams: ["vision"] };

/** Makes the server, with the ledger of a configuration in YAML. */
export async function createReportsServer(
  store: StoreClient,
  now: number,
  config: string,
  more: Partial<Pick<ReportsOptions, "requestsPerMinute" | "hoursWaiting" | "trainingMetrics" | "readAlerts">> = {},
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
    post(url, form, as = FINANCE) {
      server.viewer = as;
      const payload = new URLSearchParams(form).toString();
      return fastify.inject({
        url,
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        payload,
      });
    },
    close: () => fastify.close(),
  };
  const parsed = parseConfig(config, { source: "the test", folder: ".", env: {} });
  guardRoutes(fastify, portOf("server"), {
    admit({ headers }, asker) {
      demandRole(server.viewer, asker);
      const name = headers["x-viewer"];
      return Promise.resolve(typeof name === "string" ? { ...server.viewer, name } : server.viewer);
    },
  });
  await addReports(fastify, {
    env: process.env,
    store,
    ledger: ledgerOf(parsed),
    closing: createClosing(parsed, store, () => server.now),
    focus: parsed.focus,
    practices: parsed.practices,
    training: parsed.training,
    trainingMetrics: NO_METRICS,
    deliveries: parsed.deliveries,
    rules: "",
    access: { authenticate: () => Promise.resolve(server.viewer) },
    logger: pino({ level: "silent" }),
    version: "0.0.0",
    isDemo: false,
    now: () => server.now,
    ...more,
  });
  await fastify.ready();
  return server;
}
