import type { FastifyInstance } from "fastify";
import type { OwnerRules } from "../../domain/owner/compile.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readLiveFleet } from "./gpus.ts";
import { renderFleet } from "./page.ts";

/** Serves who holds which GPU: `/` as a page, `/api/gpus` as JSON. Both read the store when they are asked. */
export function addLiveRoutes(
  server: FastifyInstance,
  options: {
    readonly store: Pick<StoreClient, "query">;
    readonly owners: OwnerRules;
    readonly isDemo: boolean;
    readonly version: string;
    readonly now: () => number;
  },
): void {
  const { store, owners, now } = options;
  server.get("/api/gpus", () => readLiveFleet(store, owners, now()));
  server.get("/", async (_, reply) => {
    const page = renderFleet(await readLiveFleet(store, owners, now()), options);
    return reply.type("text/html; charset=utf-8").send(page);
  });
}
