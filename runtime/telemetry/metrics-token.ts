import type { FastifyInstance } from "fastify";
import { equalSecrets } from "../equal-secrets.ts";

/**
 * Makes a server answer `/metrics`, and what is below it, only to who gives this bearer token; all others get 401. It holds for routes
 * that are added later. Without a token everybody is answered.
 */
export function demandMetricsToken(server: FastifyInstance, token: string | undefined): void {
  if (token === undefined) return;
  server.addHook("onRequest", async (request, reply) => {
    // By the route that was found: a path can be written in many ways.
    if (!/^\/metrics(\/|$)/.test(request.routeOptions.url ?? "")) return;
    const given = /^bearer +(.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (equalSecrets(given, token)) return;
    return reply
      .code(401)
      .header("www-authenticate", "Bearer")
      .type("text/plain; charset=utf-8")
      .send("the bearer token of server.metricsToken is needed\n");
  });
}
