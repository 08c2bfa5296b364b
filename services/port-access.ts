import type { People } from "../reports/sign-in/people.ts";
import { createAccess } from "../reports/server/access.ts";
import { guardRoutes } from "../reports/server/guard.ts";
import { portOf, type Port } from "../reports/server/route-table.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { RouteGuard } from "../runtime/http/status-server.ts";
import type { Logger } from "pino";

/** The access control of a port with its guard. */
export type PortAccess = ReturnType<typeof createAccess> & RouteGuard;

/** Creates the access control of a port by its table of routes. Without a store, only the tokens of the configuration exist; without `people`, nobody signs in. */
export function createPortAccess(
  name: Port["name"],
  server: Pick<Config["server"], "listen"> & {
    readonly access: Pick<Config["server"]["access"], "tokens">;
    readonly metricsToken?: string | undefined;
  },
  of: { readonly logger: Logger; readonly store?: StoreClient; readonly people?: People },
): PortAccess {
  const { listen, metricsToken, access: given } = server;
  const { logger, store, people } = of;
  const configured = given.tokens;
  const access = createAccess({ listen, store, configured, metricsToken, people, clock: systemClock, logger });
  const publicUrl = people?.signIn?.publicUrl;
  return {
    ...access,
    guardRoutes: (fastify) => guardRoutes(fastify, portOf(name), access),
    names: publicUrl === undefined ? [] : [new URL(publicUrl).host],
  };
}
