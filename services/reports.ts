import type { FastifyInstance } from "fastify";
import { openAccess } from "../reports/server/access.ts";
import { addReports, type ReportsOptions } from "../reports/routes.ts";
import { systemClock } from "../runtime/clock.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";
import { rulesOfConfig } from "./ledger-rules.ts";

/**
 * Prepares the reports' API and pages for a server on the configuration's address. Returns a function that adds them. Fails with an
 * `AccessError` if the server would serve everybody.
 */
export async function openReports(
  config: Config,
  of: Pick<ReportsOptions, "store" | "version" | "isDemo" | "logger" | "hoursWaiting">,
): Promise<(server: FastifyInstance) => void> {
  const { store, logger } = of;
  const { listen, access: configured } = config.server;
  const access = await openAccess({ listen, store, configured: configured.tokens, clock: systemClock, logger });
  if (access.mode === "open")
    logger.warn({ listen }, "there is no token: every user of this machine can read everything");
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
