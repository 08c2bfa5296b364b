import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { openAccess } from "../../reports/access/open.ts";
import { addReports } from "../../reports/routes.ts";
import { systemClock } from "../../runtime/clock.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { rulesOfConfig } from "../ledger-rules.ts";

/**
 * Prepares the reports' API and pages for a server on the configuration's address: what is given back adds them to it. Fails with an
 * `AccessError` where everybody would be served.
 */
export async function openReports(
  config: Config,
  of: { readonly store: StoreClient; readonly version: string; readonly isDemo: boolean; readonly logger: Logger },
): Promise<(server: FastifyInstance) => void> {
  const { store, logger } = of;
  const { listen, access: configured } = config.server;
  const access = await openAccess({ listen, store, configured: configured.tokens, clock: systemClock, logger });
  if (access.mode === "open") logger.warn({ listen }, "there is no token: whoever is on this machine sees everything");
  const options = {
    ...of,
    access,
    ledger: ledgerOf(config),
    focus: config.focus,
    deliveries: config.deliveries,
    rules: rulesOfConfig(config).rules.hash,
    now: Date.now,
  };
  return (server) => void server.register((scope) => addReports(scope, options));
}
