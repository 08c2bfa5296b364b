import { authorizationOf } from "../collectors/exporters/http/credentials.ts";
import { createPrometheusClient, type PrometheusClient } from "../collectors/prometheus/read/client.ts";
import type { PrometheusServerConfig } from "../runtime/config/prometheus-server.ts";

/** Creates the client of a configured server for pages and reports. A request that fails is not repeated. */
export function clientOf(
  { url, ca, bearerToken, basic, tenant }: PrometheusServerConfig,
  { timeoutMillis, mostBytes }: { readonly timeoutMillis: number; readonly mostBytes: number },
): PrometheusClient {
  const authorization = authorizationOf({ basic, bearerToken });
  return createPrometheusClient({
    url,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(tenant === undefined ? {} : { "x-scope-orgid": tenant }),
    },
    maxLoad: 1,
    patienceMillis: 0,
    timeoutMillis,
    mostBytes,
    ...(ca === undefined ? {} : { ca }),
    onRetry: () => {},
  });
}
