import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { accessMode } from "../reports/access/mode.ts";
import { addReports, type ReportsOptions } from "../reports/routes.ts";
import { recordAudit } from "../reports/access/audit.ts";
import { createEndedSessions } from "../reports/sign-in/ended-sessions.ts";
import { createPeople } from "../reports/sign-in/people.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Config } from "../runtime/config/schema.ts";
import { StoreError } from "../runtime/store/store-error.ts";
import { openFiringAlerts } from "./firing-alerts.ts";
import { createClosing } from "./closing.ts";
import { rulesOfConfig } from "./ledger-rules.ts";
import { openTrainingMetrics } from "./training-metrics.ts";
import { createPortAccess, type PortAccess } from "./port-access.ts";

/** The longest wait for the tokens at the start. A store that has just started beside other work needs more time than a request has. */
const START_MILLIS = 60_000;
const LOOK_MILLIS = 250;

/** Returns whether a token was ever made, as soon as the store returns the tokens. Fails with a `StoreError` if it is away, or after a minute. */
export async function hasTokensAtStart(
  { hasTokens }: Pick<PortAccess, "hasTokens">,
  startMillis = START_MILLIS,
): Promise<boolean> {
  const end = systemClock.monotonicMillis() + startMillis;
  for (;;) {
    try {
      return await hasTokens();
    } catch (error) {
      const isSlow = error instanceof StoreError && error.code === "timeout";
      if (!isSlow || systemClock.monotonicMillis() >= end) throw error;
      await setTimeout(LOOK_MILLIS);
    }
  }
}

/**
 * Prepares the reports' API and pages for a server on the configuration's address. Returns the access control of the server, and a function
 * that adds them. Fails with an `AccessError` if the server would serve everybody, and with a `StoreError` if the store does not return the
 * tokens.
 */
export async function openReports(
  config: Config,
  of: Pick<ReportsOptions, "store" | "version" | "isDemo" | "logger" | "hoursWaiting">,
): Promise<{ readonly guard: PortAccess; readonly addRoutes: (server: FastifyInstance) => void }> {
  const { store, logger } = of;
  const { listen } = config.server;
  const now = Date.now;
  const ended = createEndedSessions(store, recordAudit(store, now), {
    sessionMillis: config.server.signIn?.session ?? 0,
    now,
    logger,
  });
  const people = createPeople(config.server, { now, ended });
  const guard = createPortAccess("server", config.server, { store, logger, ...(people && { people }) });
  if (accessMode({ listen, hasTokens: await hasTokensAtStart(guard) }) === "open")
    logger.warn({ listen }, "there is no token: every user of this machine can read everything");
  else if (config.server.metricsToken === undefined)
    logger.warn("server.metricsToken is not set: only administrators can read /metrics of servers and processors");
  const { metrics, stop } = openTrainingMetrics(config.training, logger);
  const alerts = openFiringAlerts(config.server.prometheus, { now, logger });
  const options = {
    ...of,
    access: guard,
    people,
    ledger: ledgerOf(config),
    readAlerts: alerts.read,
    closing: createClosing(config, store, now),
    focus: config.focus,
    practices: config.practices,
    training: config.training,
    trainingMetrics: metrics,
    deliveries: config.deliveries,
    rules: rulesOfConfig(config).rules.hash,
    now: Date.now,
    env: process.env,
  };
  const add = async (scope: FastifyInstance): Promise<void> => {
    scope.addHook("onClose", stop);
    scope.addHook("onClose", alerts.stop);
    await addReports(scope, options);
  };
  return { guard, addRoutes: (server) => void server.register(add) };
}
