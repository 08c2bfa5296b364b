import type { FastifyInstance } from "fastify";
import { equalSecrets } from "../equal-secrets.ts";

/**
 * Limits `/metrics`, and the paths below it, to requests with this bearer token. All others get 401. Routes that are added later are
 * included. Without a token there is no limit.
 */
export function demandMetricsToken(server: FastifyInstance, token: string | undefined): void {
  if (token === undefined) return;
  server.addHook("onRequest", async (request, reply) => {
    // The check uses the matched route, because a path can be written in many ways.
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
