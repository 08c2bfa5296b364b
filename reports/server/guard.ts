import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Viewer } from "../access/viewer.ts";
import type { Access } from "./access.ts";
import { askerOf, type Port } from "./route-table.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The viewer of the request; for routes that viewers ask. */
    viewer: Viewer;
  }
}

/**
 * Guards every route of a server that is added afterwards, by the table of its port: a request is admitted before anything else happens.
 * Adding a route that is not in the table throws an `Error`.
 */
export function guardRoutes(server: FastifyInstance, port: Port, access: Pick<Access, "admit">): void {
  server.decorateRequest("viewer");
  server.addHook("onRoute", ({ method, url }) => {
    for (const each of [method].flat())
      if (askerOf(port, each, url) === undefined)
        throw new Error(`${each} ${url} is not in the table of the port ${port.name} (reports/server/route-table.ts)`);
  });
  server.addHook("onRequest", async (request: FastifyRequest) => {
    const { url } = request.routeOptions;
    const asker = url === undefined ? port.others : askerOf(port, request.method, url)!;
    const viewer = await access.admit(request, asker);
    if (viewer !== undefined) request.viewer = viewer;
  });
}
